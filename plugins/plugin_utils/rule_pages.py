# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pages of docs/rules, generated from the rules' own words: `python -m ansible_collections.goldnode.gpu.plugins.plugin_utils.rule_pages docs/rules`."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES, Rule


def pages() -> dict[str, str]:
    """File name -> text, an index among them."""
    return {"README.md": index(), **{f"{rule.id}.md": page(rule) for rule in RULES.values()}}


def page(rule: Rule) -> str:
    """One rule's page."""
    parts = {"Symptom": rule.symptom, "Cause": rule.cause, "Fix": rule.fix, "How to verify": rule.verify, "Source": rule.source}
    about = f"Layer `{rule.layer}`, severity {rule.severity}. Decided from {names(rule.probes) or 'the GPU container runs'}."
    blocked = f" Not judged while {names(rule.needs)} is broken." if rule.needs else ""
    sections = "".join(f"\n## {heading}\n\n{as_text(words)}\n" for heading, words in parts.items())
    return f"# {rule.id}\n\n{as_text(rule.title)}. {about}{blocked}\n{sections}"


def names(words: tuple[str, ...]) -> str:
    """Names in a sentence."""
    return ", ".join(f"`{word}`" for word in words)


def as_text(words: str) -> str:
    """Words that Markdown shows as they are: `<pool>` is no tag."""
    return words.replace("<", "\\<").replace("*", "\\*")


def index() -> str:
    """All rules by layer."""
    lines = ["# Rules", "", "Generated from the rules in `plugins/module_utils/rules`. In the order in which a layer can be the first broken one.", ""]
    for layer in LAYERS:
        rules = [rule for rule in RULES.values() if rule.layer == layer]
        lines += [f"## {layer}", "", *(f"- [{rule.id}]({rule.id}.md): {as_text(rule.title)}" for rule in rules), ""]
    return "\n".join(lines).rstrip() + "\n"


def main(folder: Path) -> None:
    """Write every page, and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in folder.glob("*.md")} - set(pages()):
        (folder / stale).unlink()
    for name, text in pages().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
