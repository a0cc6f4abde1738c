# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How the rules of the orchestrator read what its parts say."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, not_applicable, passed
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import line_of

PLUGIN = ("device_plugin_log", "pod_log", "pod_events")
KUBERNETES = (*PLUGIN, "kubelet_log")
NO_ORCHESTRATOR = "no evidence of an orchestrator"


def stated_words(facts: Facts) -> str:
    """The stated values as lines of text."""
    return "\n".join(f"{key}: {value}" for key, value in facts.bundle.stated.items() if isinstance(value, str))


def said_by(facts: Facts, pattern: str, probes: tuple[str, ...] = KUBERNETES) -> str | None:
    """The first line with a pattern that a part of the orchestrator said, or that a Kubernetes run or a person reports of it."""
    found = facts.said(pattern, lambda source: source in probes or _of_cluster(facts, source))
    if found:
        return line_of(found[0].text, found[1].start())
    words = stated_words(facts)
    match = needles.search(pattern, words)
    return line_of(words, match.start()) if match else None


def _of_cluster(facts: Facts, source: str) -> bool:
    """Whether a message is of a run that no other engine than Kubernetes is said to have started."""
    number = source.split()[-1] if source.startswith("run ") else ""
    return number.isdigit() and facts.runs[int(number) - 1].get("engine") in (None, "kubernetes", "containerd", "k3s", "cri-o", "crio")


# A word that each log and event of a cluster with GPUs has, but for the log of a pod, which prints what it likes; a text without any is none.
WORDS = re.compile(r"normal|warning|nvidia|nvml|gpu|cuda|device|plugin|kubelet|\bpods?\b|container|level=|^[IWEF]\d{4} |kind:", re.IGNORECASE | re.MULTILINE)


def quiet(facts: Facts, what: str, probes: tuple[str, ...] = KUBERNETES) -> Outcome:
    """Nothing said so: a pass where one of the logs was looked at."""
    looked = [name for name in probes if (text := facts.bundle.text(name)) and (name == "pod_log" or WORDS.search(text))]
    return passed(f"{', '.join(looked)}: nothing about {what}") if looked else not_applicable(NO_ORCHESTRATOR)
