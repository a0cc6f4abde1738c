# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pages of docs/pins, generated from the rules' own words: `python -m ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.pages docs/pins`."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins import rules as _rules  # noqa: F401 - registers them
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, PIN_RULES, PinRule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.schema import FLOATING_TAG, MODULE_NAME, SCHEMA_RULE
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.waivers import WAIVER_RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.rule_pages import as_text

HEAD = """# Rules of check_pins

Generated from the rules in `plugins/plugin_utils/pins/rules`. What `check_pins` says about a pin set ([pins and locks](../pins_and_locks.md)).
The severity is what a rule says at most: low confidence warns where high would refuse, and of what a distribution maintains itself there is only a note.
"""


def every() -> tuple[PinRule, ...]:
    """All rules, those of the form first and those of the waivers last."""
    return (SCHEMA_RULE, FLOATING_TAG, MODULE_NAME, *PIN_RULES.values(), *WAIVER_RULES)


def pages() -> dict[str, str]:
    """File name -> text, an index among them."""
    return {"README.md": index(), **{f"{rule.id}.md": page(rule) for rule in every()}}


def page(rule: PinRule) -> str:
    """One rule's page."""
    parts = {"Why": rule.why, "Fix": rule.fix, "Source": rule.source}
    sections = "".join(f"\n## {heading}\n\n{as_text(words)}\n" for heading, words in parts.items())
    said = "says a note" if rule.severity == NOTE else f"a {rule.severity} at most"
    return f"# {rule.id}\n\n{as_text(rule.title)}. Of `check_pins`, {said}.\n{sections}"


def index() -> str:
    """All rules in a table."""
    rows = [f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {as_text(rule.title)} |" for rule in every()]
    return "\n".join([HEAD, "| rule | severity | what holds |", "|---|---|---|", *rows]) + "\n"


def main(folder: Path) -> None:
    """Write every page, and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - set(pages()):
        (folder / stale).unlink()
    for name, text in pages().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
