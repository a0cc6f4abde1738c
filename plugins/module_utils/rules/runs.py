# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the rules about containers share: which runs and words there are, and when the question does not arise."""

from __future__ import annotations

import re
from typing import Callable

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import cuda_probe
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cuda_probe import Report
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.container import from_container
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, not_applicable, unknown

NO_RUN = "no GPU container was run"
NO_TOOLKIT = "the pool has no container toolkit on purpose"
LONGEST_QUOTE = 300


def host_report(facts: Facts) -> Report | None:
    """What the CUDA probe says on the host."""
    return cuda_probe.report(facts.bundle.text("cuda_probe") or "")


def without_toolkit(wanted: Wanted) -> bool:
    """Whether the lock says that there are no GPU containers here."""
    return wanted.has("container_toolkit") and wanted.pin("container_toolkit") is None


def from_program(source: str) -> bool:
    """Whether a message was said by a program that uses CUDA, in a container or on the host."""
    return from_container(source) or source == "cuda_probe"


def complaint(facts: Facts, pattern: str, sources: Callable[[str], bool] = from_container) -> tuple[Message, re.Match[str]] | None:
    """The first message of the chosen sources that has the pattern; a good report of the CUDA probe is not searched."""
    return facts.complained(pattern, sources)


def heard(facts: Facts, pattern: str, sources: Callable[[str], bool] = from_container) -> str | None:
    """The line in which a container said something of the pattern, with where it was said."""
    said = complaint(facts, pattern, sources)
    if said is None:
        return None
    message, match = said
    start = message.text.rfind("\n", 0, match.start()) + 1
    end = message.text.find("\n", match.end())
    line = message.text[start : len(message.text) if end < 0 else end].strip()
    return f"{message.source}: {line[:LONGEST_QUOTE]}"


def orchestrated(facts: Facts) -> bool:
    """Whether Kubernetes started the containers: what they lack is then first a question of limits, runtime class and device plugin."""
    return any(run.get("engine") == "kubernetes" for run in facts.runs) or any(message.source.startswith("pod_") for message in facts.messages or ())


def not_seen(facts: Facts, wanted: Wanted) -> Outcome:
    """The answer of a rule about a symptom that no container shows."""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    spoke = facts.runs or any(from_container(message.source) for message in facts.messages or ())
    return not_applicable("no container shows this") if spoke else unknown(NO_RUN)
