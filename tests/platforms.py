"""docs/platforms.md out of docs/platforms.yml: `python -m tests.platforms`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

TOP = Path(__file__).parents[1]
PAGE = TOP / "docs" / "platforms.md"
LEVELS = {
    "real": "proven on real packages, installed on a node of the lab",
    "stand-ins": "proven on a node of the lab, with packages that the [simulated GPU](simulated_gpu.md) brings under the vendors' names",
    "data": "data only: `lock_stack` resolves a repository with the vendors' names to exactly the right packages; no role was run there",
}
# where a claim that names no file has its test
DATA_TESTS = "tests/unit/plugins/plugin_utils/lock/test_distributions.py"


@dataclass(frozen=True)
class Claim:
    """What is proven of a component on a platform, and the test that shows it."""

    level: str
    file: str
    test: str

    def cell(self) -> str:
        """The cell of the page."""
        return f"[{self.level}](../{self.file})"


def read_claim(text: str) -> Claim:
    """`<level>: [<file> ]<function>`; an unknown level is an error."""
    level, _, where = text.partition(": ")
    if level not in LEVELS:
        raise ValueError(f"docs/platforms.yml has the level {level}; expected {', '.join(LEVELS)}")
    file, _, test = where.rpartition(" ")
    return Claim(level, file or DATA_TESTS, test)


def read() -> tuple[list[str], dict[str, dict[str, Claim]]]:
    """The components, and the claims of each platform by component."""
    data = yaml.safe_load(PAGE.with_suffix(".yml").read_text())
    return data["columns"], {name: {part: read_claim(text) for part, text in row.items()} for name, row in data["platforms"].items()}


def page() -> str:
    """The whole page."""
    columns, platforms = read()
    lines = [
        "# Platforms",
        "",
        "Made by `python -m tests.platforms` from `docs/platforms.yml`. Each cell links to the test that shows it:",
        "",
        *(f"- `{level}`: {what}." for level, what in LEVELS.items()),
        "- `-`: no test shows it.",
        "",
        f"| platform | {' | '.join(columns)} |",
        f"|{'---|' * (len(columns) + 1)}",
        *(f"| {name} | {' | '.join(row[part].cell() if part in row else '-' for part in columns)} |" for name, row in platforms.items()),
        "",
        "Each driver column holds for open and proprietary modules, and for NVIDIA's repository and the distribution's own where both have them.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
