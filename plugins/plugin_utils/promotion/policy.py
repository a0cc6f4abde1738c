# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The promotion policy of a pool: `goldnode_promotion` in group_vars/<pool>/promotion.yml, checked and filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import RUNGS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import DURATION, seconds_of
from jsonschema import Draft202012Validator, ValidationError

RISKS = ("patch", "minor", "major", "emergency")

# The numbers that hold where promotion.yml says nothing.
DEFAULTS: dict[str, Any] = {
    "slot": "1h",
    "minimum_rung": "hardware",
    "streak": {"patch": 12, "minor": 24, "major": 48, "emergency": 2},
    "soak": {"patch": "24h", "minor": "48h", "major": "96h", "emergency": "2h"},
    "coverage": 2,
    "freshness_slots": 2,
    "gap_slots": 2,
    "missed_percent": 10,
    "fails": 3,
    "errors_in_a_row": 4,
    "clock_skew": "30s",
}

# A day is a whole number of slots, so that a slot's id never depends on when the first one ran.
SLOTS = [
    *(f"{n}s" for n in range(1, 60) if 60 % n == 0),
    *(f"{n}m" for n in range(1, 60) if 60 % n == 0),
    *(f"{n}h" for n in range(1, 25) if 24 % n == 0),
]

# Far beyond any use, and far below what a time or a sum of slots can hold.
MAX_COUNT = 10_000
MAX_DURATION_S = 366 * 86400

_COUNT = {"type": "integer", "minimum": 1, "maximum": MAX_COUNT}
_DURATION = {"type": "string", "pattern": f"^{DURATION.pattern}$"}
_TYPES: dict[str, dict[str, Any]] = {
    "slot": {"enum": SLOTS},
    "minimum_rung": {"enum": list(RUNGS)},
    "streak": {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(RISKS, _COUNT)},
    "soak": {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(RISKS, _DURATION)},
    "missed_percent": {"type": "integer", "minimum": 0, "maximum": 100},
    "clock_skew": _DURATION,
}
SCHEMA = {"type": "object", "additionalProperties": False, "properties": {name: _TYPES.get(name, _COUNT) for name in DEFAULTS}}


@dataclass(frozen=True)
class Policy:
    """The numbers of one release. Times in seconds, `freshness` and `gap` in slots."""

    slot_s: int
    minimum_rung: str
    streak: int
    soak_s: int
    coverage: int
    freshness: int
    gap: int
    missed_percent: int
    fails: int
    errors_in_a_row: int
    clock_skew_s: int


def complete(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The policy with every number written out; a wrong one is an error that names the file `where`."""
    error = next(iter(sorted(Draft202012Validator(SCHEMA).iter_errors(raw), key=lambda e: list(map(str, e.absolute_path)))), None)
    if error is not None:
        raise PromotionError(f"{where}: {_sentence(error)}")
    completed = _filled_in(raw)
    if too_long := next((name for name, duration in _durations(completed) if seconds_of(duration) > MAX_DURATION_S), None):
        raise PromotionError(f"{where}: goldnode_promotion.{too_long} is longer than {MAX_DURATION_S // 86400}d; write a shorter time")
    return completed


def _filled_in(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {**default, **raw.get(name, {})} if isinstance(default, dict) else raw.get(name, default) for name, default in DEFAULTS.items()}


def _durations(policy: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The times of a completed policy, by key."""
    return [("clock_skew", policy["clock_skew"]), *((f"soak.{risk}", soak) for risk, soak in policy["soak"].items())]


def policy_digest(policy: Mapping[str, Any]) -> str:
    """The digest of a completed policy: a changed number makes another policy, and so another release."""
    return digest_of(policy)


def policy_for(policy: Mapping[str, Any], risk: str) -> Policy:
    """The numbers of a completed policy that hold for a release of this risk class."""
    return Policy(
        slot_s=seconds_of(policy["slot"]),
        minimum_rung=policy["minimum_rung"],
        streak=policy["streak"][risk],
        soak_s=seconds_of(policy["soak"][risk]),
        coverage=policy["coverage"],
        freshness=policy["freshness_slots"],
        gap=policy["gap_slots"],
        missed_percent=policy["missed_percent"],
        fails=policy["fails"],
        errors_in_a_row=policy["errors_in_a_row"],
        clock_skew_s=seconds_of(policy["clock_skew"]),
    )


def _sentence(error: ValidationError) -> str:
    name = ".".join(["goldnode_promotion", *map(str, error.absolute_path)])
    instance: Any = error.instance
    schema: Any = error.schema
    if error.validator == "additionalProperties":
        unknown = sorted(set(instance) - set(schema["properties"]), key=str)
        return f"{name} has the unknown key {unknown[0]!r}; known keys are {', '.join(sorted(schema['properties']))}"
    if error.validator == "enum":
        return f"{name} is {instance!r}; write one of {', '.join(map(str, schema['enum']))}"
    if error.validator == "pattern":
        return f"{name} is {instance!r}; write a number and a unit: 30s, 15m, 24h, 2d"
    return f"{name} is wrong: {error.message}"
