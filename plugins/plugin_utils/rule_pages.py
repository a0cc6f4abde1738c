# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pages of docs/rules, generated from the rules' own words: `python -m ansible_collections.goldnode.gpu.plugins.plugin_utils.rule_pages docs/rules`."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES, Rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.rules import WORKLOAD_RULES, WorkloadRule


def pages() -> dict[str, str]:
    """File name -> text, an index among them."""
    ours = {rule.id: page(rule, decided_from(rule)) for rule in RULES.values()}
    linter = {rule.id: page(rule, f"Of `lint_workload`, severity {rule.severity}.") for rule in WORKLOAD_RULES.values()}
    return {"README.md": index(), **{f"{name}.md": text for name, text in {**ours, **linter}.items()}}


def page(rule: Rule | WorkloadRule, about: str) -> str:
    """One rule's page."""
    parts = {"Symptom": rule.symptom, "Cause": rule.cause, "Fix": rule.fix, "How to verify": rule.verify, "Source": rule.source}
    sections = "".join(f"\n## {heading}\n\n{as_text(words)}\n" for heading, words in parts.items())
    return f"# {rule.id}\n\n{as_text(rule.title)}. {about}\n{sections}"


def decided_from(rule: Rule) -> str:
    """What a rule about nodes reads and needs."""
    about = f"Layer `{rule.layer}`, severity {rule.severity}. Decided from {names(rule.probes) or 'the GPU container runs'}."
    return about + (f" Not judged while {names(rule.needs)} is broken." if rule.needs else "")


def names(words: tuple[str, ...]) -> str:
    """Names in a sentence."""
    return ", ".join(f"`{word}`" for word in words)


def as_text(words: str) -> str:
    """Words that Markdown shows as they are: `<pool>` is no tag."""
    return words.replace("<", "\\<").replace("*", "\\*")


def index() -> str:
    """All rules by layer, then the linter's."""
    lines = ["# Rules", "", "Generated from the rules in `plugins/module_utils/rules`. In the order in which a layer can be the first broken one.", ""]
    for layer in LAYERS:
        lines += [f"## {layer}", "", *(entry(rule) for rule in RULES.values() if rule.layer == layer), ""]
    lines += ["## workload", "", "What `lint_workload` says about files ([workloads](../workloads.md)).", "", *map(entry, WORKLOAD_RULES.values())]
    return "\n".join(lines).rstrip() + "\n"


def entry(rule: Rule | WorkloadRule) -> str:
    """A rule's line in the index."""
    return f"- [{rule.id}]({rule.id}.md): {as_text(rule.title)}"


def main(folder: Path) -> None:
    """Write every page, and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - set(pages()):
        (folder / stale).unlink()
    for name, text in pages().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
