from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.rule_pages import main, pages
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.rules import WORKLOAD_RULES

FOLDER = Path(__file__).parents[4] / "docs/rules"
HOW = "write them again: .config/run python -m ansible_collections.goldnode.gpu.plugins.plugin_utils.rule_pages docs/rules"


def test_the_pages_in_the_repository_are_those_that_the_rules_make():
    written = {path.name: path.read_text() for path in FOLDER.glob("*.md")}
    assert sorted(name for name in {*written, *pages()} if written.get(name) != pages().get(name)) == [], HOW


def test_every_rule_says_symptom_cause_fix_check_and_source():
    thin = [
        rule.id for rule in (*RULES.values(), *WORKLOAD_RULES.values()) if not all((rule.title, rule.symptom, rule.cause, rule.fix, rule.verify, rule.source))
    ]
    assert thin == []


def test_the_page_of_a_rule_that_is_gone_goes_too(tmp_path):
    (tmp_path / "driver.gone.md").write_text("x")
    main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(pages())
