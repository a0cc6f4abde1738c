# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a rule says, and the registry of the rules; a decorator's words are the rule's page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet

REFUSAL, WARNING, NOTE = "refusal", "warning", "note"
SEVERITIES = (REFUSAL, WARNING, NOTE)
# Dotted pin -> its new value; None takes the key out (container_toolkit: null, none on purpose).
Change = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """One thing that a rule has to say.

    `place`: the pin that it is about. `changes`: candidates that could make it valid, the nearest first; the first that does is offered.
    `advice`: what to do where no change of a pin says it.
    """

    reason: str
    place: str
    source: str = ""
    severity: str = ""
    changes: tuple[Change, ...] = ()
    advice: str = ""


@dataclass(frozen=True)
class PinRule:
    """A rule with the words of its page. `severity` is what it says at most; low confidence, and the distribution's own packages, say less."""

    id: str
    look: Callable[[PinSet], Iterator[Found]]
    severity: str
    title: str
    why: str
    fix: str
    source: str


PIN_RULES: dict[str, PinRule] = {}
Look = Callable[[PinSet], "Iterator[Found]"]


def rule(identifier: str, *, severity: str, why: str, fix: str, source: str) -> Callable[[Look], Look]:
    """Registers the decorated function as `pins.<condition>`; its docstring's first line is the page's title."""

    def register(look: Look) -> Look:
        title = (look.__doc__ or "").strip().splitlines()[0].rstrip(".")
        PIN_RULES[f"pins.{identifier}"] = PinRule(f"pins.{identifier}", look, severity, title, why, fix, source)
        return look

    return register


def by_confidence(confidence: str) -> str:
    """Low confidence never refuses."""
    return WARNING if confidence == "low" else REFUSAL


@dataclass(frozen=True)
class Statement:
    """A finding as the report holds it; `nearest` is {change, words} or None."""

    rule: str
    severity: str
    reason: str
    source: str
    nearest: Mapping[str, Any] | None = None
    place: str = field(default="", compare=True)

    def as_dict(self) -> dict[str, Any]:
        """The report's form."""
        return {"rule": self.rule, "severity": self.severity, "place": self.place, "reason": self.reason, "source": self.source, "nearest": self.nearest}
