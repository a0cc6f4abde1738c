# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Explaining and promoting. A promotion is an intent, then one transaction that checks everything again and moves the channel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import releases
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.agreement import check_agreement
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.evidence import Judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import Ledger
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.views import advance, view_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError, guards, states
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Release, View
from sqlalchemy import Connection


@dataclass(frozen=True)
class Standing:
    """Where the newest release of a pool stands: what decides about it, and its guards."""

    view: View
    guards: list[guards.Guard]
    changed: bool = False

    @property
    def release(self) -> Release:
        """The release it is about."""
        return self.view.release


def explain(ledger: Ledger, environment: str, pool: str, now: datetime) -> Standing:
    """Reads where the newest release of a pool stands. Changes nothing."""
    with ledger.read() as connection:
        view = view_of(connection, _newest(connection, environment, pool), now)
        return Standing(view, guards.evaluate(view))


def promote(ledger: Ledger, environment: str, pool: str, now: datetime, judge: Judge) -> Standing:
    """Promotes the newest release of a pool if it is READY, else says where it stands.

    The ledger stays locked from the intent to the commit, so an intent that somebody else finds is that of a killed run.
    """
    with ledger.locked():
        with ledger.write() as connection:
            check_agreement(connection, environment, pool)
            found = _newest(connection, environment, pool)
            release = advance(connection, view_of(connection, found, now))
            generation = releases.generation_of(connection, environment, pool, releases.STABLE)
            if release.state == states.READY:
                releases.move(connection, release, states.PROMOTING, "every built guard is met: intent to promote", now)
        if release.state != states.READY:
            return replace(explain(ledger, environment, pool, now), changed=release.state != found.state)
        with ledger.write() as connection:
            check_agreement(connection, environment, pool)
            return _commit(connection, releases.must(connection, release.digest), generation, now, judge)


def _commit(connection: Connection, release: Release, generation: int, now: datetime, judge: Judge) -> Standing:
    """Everything again, from the raw bundles; then the channel, the state and the event at once."""
    view = view_of(connection, release, now, judge)
    found = guards.evaluate(view)
    if held_by := guards.unmet(found):
        releases.move(connection, release, states.SOAKING, f"at the commit, {held_by[0].name}: {held_by[0].value}", now)
        return Standing(view_of(connection, releases.must(connection, release.digest), now), found)
    releases.point(connection, release.environment, release.pool, releases.STABLE, release.digest, now, generation)
    releases.move(connection, release, states.PROMOTED, "every built guard is met", now)
    return Standing(view_of(connection, releases.must(connection, release.digest), now), found, changed=True)


def _newest(connection: Connection, environment: str, pool: str) -> Release:
    release = releases.latest(connection, environment, pool)
    if release is None:
        raise PromotionError(f"{pool} has no release in environment {environment}; register one: ansible-playbook goldnode.gpu.register_release -e pool={pool}")
    return release
