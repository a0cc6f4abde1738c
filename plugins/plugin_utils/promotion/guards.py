# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The guards between SOAKING and PROMOTED: each a pure function of the ledger's rows, each with its value and its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, digest_without, short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import history
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import plain, slot_start, slots_between, text_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import View
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import policy_digest

MET = "met"
UNMET = "unmet"
NOT_APPLICABLE = "not_applicable"
NOT_BUILT = "not built"


@dataclass(frozen=True)
class Guard:
    """One guard now: its value, the bound of the policy, and what would make it true (`ok` where it is)."""

    id: str
    name: str
    state: str
    value: str
    bound: str
    needs: str

    def as_dict(self) -> dict[str, str]:
        """The guard as reports hold it."""
        return asdict(self)


def identity(view: View) -> Guard:
    """G1: release, policy, nonces and boots are those that the controller issued."""
    problems = [*_release_problems(view), *_answer_problems(view)]
    value = problems[0] if problems else "as issued"
    return _guard("G1", "identity", not problems, value, "as the controller issued", "a slot whose bundles are the ones that were asked for")


def streak(view: View) -> Guard:
    """G2: so many qualifying slots, no failure between them."""
    count, bound = len(history.streak(view.slots, view.policy)), view.policy.streak
    earliest = slot_start(view.now, view.policy.slot_s) + timedelta(seconds=(bound - count) * view.policy.slot_s)
    needs = f"{_more(bound - count, 'passing slot')}, earliest {text_of(earliest)}"
    return _guard("G2", "streak", count >= bound, f"{count} of {bound}", f"{bound} slots ({view.release.risk})", needs)


def soak(view: View) -> Guard:
    """G3: so much time since the first slot of the streak."""
    start, bound = history.soak_start(view.slots, view.policy), view.policy.soak_s
    if start is None:
        return _guard("G3", "soak", False, "not begun", plain(bound), "a first passing slot")
    soaked = (view.now - start).total_seconds()
    return _guard("G3", "soak", soaked >= bound, plain(soaked), plain(bound), f"{plain(bound)}, until {text_of(start + timedelta(seconds=bound))}")


def coverage(view: View) -> Guard:
    """G5: so many canaries with a passing result for each GPU model and profile of the pool."""
    passed = {node.node for node in history.clean_runs(history.streak(view.slots, view.policy))}
    models, bound = models_of(view.release), view.policy.coverage
    value = ", ".join(f"{model}: {len(passed)} of {bound}" for model in models) or "no GPU model is locked"
    needs = _more(bound - len(passed), "canary with a passing slot", "canaries with a passing slot")
    return _guard("G5", "coverage", bool(models) and len(passed) >= bound, value, f"{bound} canaries for each GPU model", needs)


def freshness(view: View) -> Guard:
    """G6: the last pass is recent, and few slots were missed since the soak began."""
    passing, policy = history.streak(view.slots, view.policy), view.policy
    if not passing:
        return _guard("G6", "freshness", False, "no pass", f"last pass within {policy.freshness} slots", "a passing slot")
    age = slots_between(passing[-1].scheduled, slot_start(view.now, policy.slot_s), policy.slot_s)
    missed = missed_percent(view)
    value = f"{plain((view.now - passing[-1].scheduled).total_seconds())}, {missed:.0f} % missed"
    bound = f"last pass within {policy.freshness} slots, at most {policy.missed_percent} % missed"
    needs = "a passing slot now" if age > policy.freshness else "more slots that run at their time"
    return _guard("G6", "freshness", age <= policy.freshness and missed <= policy.missed_percent, value, bound, needs)


def order(view: View) -> Guard:
    """G9: registered after the stable release. A way back is a rollback, never a promotion."""
    if view.stable is None:
        return Guard("G9", "order", NOT_APPLICABLE, "first release of the pool", "newer than stable", "ok")
    newer = view.release.number > view.stable.number
    value = f"{short(view.release.digest)} is {'newer' if newer else 'not newer'} than stable {short(view.stable.digest)}"
    return _guard("G9", "order", newer, value, "newer than stable", "a release registered after the stable one")


BUILT = (identity, streak, soak, coverage, freshness, order)

# What the design asks beside these. Listed so that nobody takes their silence for a pass; no condition yet.
TO_BUILD = (
    ("G4", "exercise"),
    ("G7", "flakes"),
    ("G8", "inconclusive"),
    ("G10", "approval"),
    ("G11", "freeze windows"),
    ("G12", "blocking alerts"),
    ("-", "signatures"),
    ("-", "SBOM"),
    ("-", "check_pins"),
)


def evaluate(view: View) -> list[Guard]:
    """Every guard that is built, in the order of its number, then those that are not."""
    return [*(guard(view) for guard in BUILT), *(Guard(number, name, NOT_BUILT, "-", "-", "not built") for number, name in TO_BUILD)]


def unmet(guards: Sequence[Guard]) -> list[Guard]:
    """The guards that hold a promotion back."""
    return [guard for guard in guards if guard.state == UNMET]


def models_of(release: history.Release) -> list[str]:
    """The GPU models of a release's pool, each with its MIG profile if there is one."""
    pins = release.lock.get("pins", {})
    profile = (pins.get("mig") or {}).get("profile")
    return sorted({f"{gpu['model']} {profile}" if profile else str(gpu["model"]) for gpu in pins.get("gpus", [])})


def missed_percent(view: View) -> float:
    """The share of scheduled slots that did not run since the soak began; the current one is not missed yet."""
    kept = history.unbroken(view.slots, view.policy)
    start = history.soak_start(kept, view.policy)
    if start is None:
        return 0.0
    ran = sum(slot.scheduled >= start for slot in kept)
    current = slot_start(view.now, view.policy.slot_s)
    due = slots_between(start, current, view.policy.slot_s) + (kept[-1].scheduled == current)
    return 100 * (due - ran) / due if due else 0.0


def rule_of_three(view: View) -> str:
    """What the clean runs of the streak say about the failure rate: with n of them it is below 3/n (95 %)."""
    runs = len(history.clean_runs(history.streak(view.slots, view.policy)))
    if runs < 4:
        return f"{runs} clean runs: too few to bound the failure rate"
    return f"{runs} clean runs bound the failure rate at about {300 / runs:.0f} % (95 %)"


def release_digest(pool: str, environment: str, lock_digest: str, image_digest: str, policy: str) -> str:
    """The identity of a release."""
    return digest_of({"pool": pool, "environment": environment, "lock_digest": lock_digest, "image_digest": image_digest, "policy_digest": policy})


def _release_problems(view: View) -> list[str]:
    r = view.release
    checks = {
        "the lock's digest is not that of its content": digest_without(r.lock) == r.lock_digest,
        "the policy's digest is not that of its content": policy_digest(r.policy) == r.policy_digest,
        "the release's digest is not that of its parts": release_digest(r.pool, r.environment, r.lock_digest, r.image_digest, r.policy_digest) == r.digest,
    }
    return [problem for problem, good in checks.items() if not good]


def _answer_problems(view: View) -> list[str]:
    nodes = history.clean_runs(history.streak(view.slots, view.policy))
    return [
        f"{node.node} answered with another {what}"
        for node in nodes
        for what, issued, seen in (
            ("release", view.release.digest, node.seen_release),
            ("release", node.release, node.seen_release),
            ("nonce", node.nonce, node.seen_nonce),
            ("boot id", node.boot_id or node.seen_boot_id, node.seen_boot_id),
        )
        if not seen or issued != seen
    ]


def _guard(number: str, name: str, met: bool, value: str, bound: str, needs: str) -> Guard:
    return Guard(number, name, MET if met else UNMET, value, bound, "ok" if met else needs)


def _more(count: int, one: str, several: str | None = None) -> str:
    return f"1 more {one}" if count == 1 else f"{count} more {several or one + 's'}"
