"""How well the judge names the layer and the cause of captured cases: `python -m tests.cases.scoring [folder] [text in a name]`.

A case is `<name>.evidence.yml` with `<name>.truth.yml` (README.md). The layer is right if it is one of `accept.layers`; the cause is right if
cause and remedy of the blamed finding, the first one in the first broken layer, hold an alternative of each group of `accept.must_mention`.
Where nothing is broken (`none`), the words of all findings count.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL

HERE = Path(__file__).parent


class Score(NamedTuple):
    """One case, judged. `said` is the first broken layer or `none`, `words` the cause and remedy that were blamed."""

    name: str
    sufficient: bool
    layer: bool
    cause: bool
    said: str
    rule: str
    words: str
    truth: dict[str, Any]


def names(folder: Path = HERE) -> list[str]:
    """The cases of a folder, sorted."""
    return sorted(path.name.removesuffix(".truth.yml") for path in folder.glob("*.truth.yml"))


def score(name: str, folder: Path = HERE) -> Score:
    """Judge one case by its evidence alone, and compare with its truth."""
    evidence = yaml.load((folder / f"{name}.evidence.yml").read_text(), yaml.CSafeLoader)
    truth = yaml.load((folder / f"{name}.truth.yml").read_text(), yaml.CSafeLoader)["truth"]
    judged = judge(evidence)
    said = judged.first_broken_layer or "none"
    blaming = [finding for finding in judged.findings if finding.verdict == FAIL]
    blamed = next((finding for finding in blaming if finding.layer == said), None)
    heard = [blamed] if blamed else [finding for finding in judged.findings if truth["first_broken_layer"] == "none"]
    words = " ".join(f"{finding.cause} {finding.remedy}" for finding in heard).strip()
    accept = truth["accept"]
    return Score(
        name, truth["evidence_sufficient"], said in accept["layers"], mentions(words, accept["must_mention"]), said, blamed.rule if blamed else "", words, truth
    )


def mentions(words: str, groups: list[list[str]]) -> bool:
    """Whether an alternative of every group is there, case and spaces aside."""
    plain = " ".join(words.lower().split())
    return all(any(alternative in plain for alternative in group) for group in groups)


def main(folder: Path, part: str) -> None:
    """Print each miss, and the shares."""
    scores = [score(name, folder) for name in names(folder) if part in name]
    for one in scores:
        if not (one.layer and one.cause):
            print(f"{one.name}: said {one.said} by {one.rule or '-'}, {'right layer, cause not named' if one.layer else 'wrong layer'}")
            print(f"    truth {one.truth['first_broken_layer']}: {one.truth['root_cause']}\n    words {one.words[:300]}")
    for label, chosen in (("sufficient", [one for one in scores if one.sufficient]), ("not sufficient", [one for one in scores if not one.sufficient])):
        if chosen:
            print(f"evidence {label}: layer {sum(one.layer for one in chosen)}, cause {sum(one.cause for one in chosen)} of {len(chosen)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE, sys.argv[2] if len(sys.argv) > 2 else "")
