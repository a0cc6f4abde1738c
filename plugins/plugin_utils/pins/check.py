# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judging a pin set: text or mapping in, report out. Pure: the day comes in as an argument."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins import rules as _rules  # noqa: F401 - registers them
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.change import changed, in_words
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, PIN_RULES, REFUSAL, WARNING, Change, Found, PinRule, Statement
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.schema import SCHEMA_RULE, form, judgeable
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.waivers import Waiver, settled

SCHEMA = "goldnode.check_pins/v1"
# How many candidates for a nearest change are judged whole before the best of them is taken.
WHOLE = 12
Said = tuple[PinRule, Found, str]


@dataclass(frozen=True)
class Report:
    """What is said of a pin set."""

    statements: tuple[Statement, ...]
    waived: tuple[tuple[Statement, Waiver], ...] = ()

    def of(self, severity: str) -> list[Statement]:
        """The statements of one severity."""
        return [one for one in self.statements if one.severity == severity]

    @property
    def outcome(self) -> str:
        """`pass` where nothing is refused."""
        return "fail" if self.of(REFUSAL) else "pass"

    def as_dict(self) -> dict[str, Any]:
        """The report's form, `goldnode.check_pins/v1`."""
        return {
            "schema": SCHEMA,
            "outcome": self.outcome,
            "refusals": [one.as_dict() for one in self.of(REFUSAL)],
            "warnings": [one.as_dict() for one in self.of(WARNING)],
            "notes": [one.as_dict() for one in self.of(NOTE)],
            "waived": [{**one.as_dict(), "waiver": waiver.as_dict()} for one, waiver in self.waived],
        }


def check(pins: Any, today: date, waivers: Sequence[Waiver] = ()) -> Report:
    """The report on a pin set, whatever it is."""
    return settled_report(judged(pins, today), today, waivers)


def settled_report(statements: Sequence[Statement], today: date, waivers: Sequence[Waiver]) -> Report:
    """The report with what is waived taken out."""
    left, waived = settled(statements, today, waivers)
    order = (REFUSAL, WARNING, NOTE)
    return Report(tuple(sorted(left, key=lambda one: order.index(one.severity))), tuple(waived))


def judged(pins: Any, today: date) -> list[Statement]:
    """Every statement on a pin set, waivers aside."""
    wrong = list(form(pins))
    if any(one.rule == SCHEMA_RULE.id for one in wrong):
        return wrong
    whole = PinSet(judgeable(pins), today)
    said = list(everything(whole))
    return [*wrong, *(statement(whole, one, said) for one in said)]


def everything(pins: PinSet) -> Iterator[Said]:
    """What every rule says, with its severity."""
    for one in PIN_RULES.values():
        for found in one.look(pins):
            yield one, found, found.severity or one.severity


def statement(pins: PinSet, said: Said, beside: Sequence[Said]) -> Statement:
    """One thing said, with the nearest change that would make it valid."""
    one, found, severity = said
    change = nearest(pins, said, beside) if severity != NOTE else None
    words = "; ".join(part for part in (in_words(change) if change else "", found.advice) if part)
    offered = {"change": dict(change) if change else None, "words": words or one.fix} if severity != NOTE else None
    return Statement(one.id, severity, found.reason, found.source or one.source, offered, found.place)


def nearest(pins: PinSet, said: Said, beside: Sequence[Said]) -> Change | None:
    """Of the candidates that settle what was said the one that brings least that is new, and leaves least; of equals the nearest."""
    before = {(rule.id, found.place) for rule, found, severity in beside if severity != NOTE}
    removing = [change for change in said[1].changes if takes_out(change)]
    keeping = itertools.islice((change for change in said[1].changes if change not in removing and settles(pins, said, change)), WHOLE)
    settling = (*keeping, *(change for change in removing if settles(pins, said, change)))
    priced = ((cost(pins, change, before), place, change) for place, change in enumerate(settling))
    return min(priced, default=((), 0, None), key=lambda one: one[:2])[2]


def takes_out(change: Change) -> bool:
    """Whether a change gives up a GPU or an image: the last resort, however near it stands."""
    return any(value is None and place.startswith(("gpus[", "workload_images[")) for place, value in change.items())


def cost(pins: PinSet, change: Change, before: set[tuple[str, str]]) -> tuple[int, ...]:
    """What a change leaves: refusals that it brings, warnings that it brings, refusals that stay, warnings that stay."""
    after = [(severity, (rule.id, found.place) in before) for rule, found, severity in everything(PinSet(changed(pins.pins, change), pins.today))]
    return tuple(after.count((severity, stays)) for stays in (False, True) for severity in (REFUSAL, WARNING))


def settles(pins: PinSet, said: Said, change: Change) -> bool:
    """Whether a change leaves nothing but notes of a rule at the place that it spoke of."""
    one, found, _severity = said
    again = one.look(PinSet(changed(pins.pins, change), pins.today))
    return not any(other.place == found.place and (other.severity or one.severity) != NOTE for other in again)
