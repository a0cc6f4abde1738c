# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What rules share that start from something a container said."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, not_applicable, passed

# The probes that carry the words of a container; the others speak for the host.
CONTAINER_PROBES = ("pod_log", "pod_events", "app_log", "device_plugin_log")


def in_container(source: str) -> bool:
    """Whether a message's source is a container, or the engine that starts it."""
    return source.startswith("run ") or source in CONTAINER_PROBES


def line_of(text: str, position: int, limit: int = 300) -> str:
    """The line of a text that holds a position, as a sentence can quote it."""
    start = text.rfind("\n", 0, position) + 1
    return " ".join(text[start:].partition("\n")[0].split())[:limit]


def heard(facts: Facts, pattern: str) -> str | None:
    """The first line that a container or its engine said with this pattern."""
    found = facts.said(pattern, in_container)
    return line_of(found[0].text, found[1].start()) if found else None


def ended_well(facts: Facts, source: str) -> bool:
    """Whether a message is of a run that ended with 0."""
    number = source.split()[-1] if source.startswith("run ") else ""
    return number.isdigit() and facts.runs[int(number) - 1].get("rc") == 0


def nothing_heard(facts: Facts, what: str) -> Outcome:
    """No container said so: a pass if one came to its end, else nobody could have seen it."""
    fine = any(run.get("rc") == 0 for run in facts.runs)
    return passed(f"a GPU container ended well, and none said {what}") if fine else not_applicable(f"no container said {what}")
