# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What propose_upgrade leaves: a folder of files to review for each proposal, a page, result.json (`goldnode.propose_upgrade/v1`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.difference import lines
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import LOCK_SUFFIX, render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.upgrade import Proposal
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE

SCHEMA = "goldnode.propose_upgrade/v1"
_HEADER = "---\n# Proposed by goldnode.gpu.propose_upgrade: every version exact, as in the lock beside it.\n"


def write_proposals(files: PoolFiles, lock: Mapping[str, Any], found: Sequence[Proposal], place: Path) -> tuple[dict[str, Any], list[str]]:
    """Leaves all files below `place`; the result and the page's lines."""
    for one in found:
        write_text(pins_path(one, place), _HEADER + yaml.safe_dump({"goldnode_pins": one.lock["pins"]}, sort_keys=False, width=160))
        write_text(lock_path(one, place), render(one.lock))
        write_text(place / one.kind / "changes.txt", "\n".join(_block(one)) + "\n")
    result = {
        "schema": SCHEMA,
        "outcome": "pass",
        "pool": lock["pool"],
        "lock_digest": lock["digest"],
        "proposals": [_as_dict(one, place) for one in found],
    }
    page = _page(files, lock, found, place)
    write_text(place / "page.txt", "\n".join(page) + "\n")
    write_text(place / "result.json", json.dumps(result, indent=1) + "\n")
    return result, page


def pins_path(one: Proposal, place: Path) -> Path:
    """Where a proposal's pins.yml lies."""
    return place / one.kind / "pins.yml"


def lock_path(one: Proposal, place: Path) -> Path:
    """Where a proposal's lock lies."""
    return place / one.kind / f"{one.lock['pool']}{LOCK_SUFFIX}"


def _as_dict(one: Proposal, place: Path) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "lock_digest": one.lock["digest"],
        "pins_file": str(pins_path(one, place)),
        "lock_file": str(lock_path(one, place)),
        "differences": [difference._asdict() for difference in one.differences],
        "needs": one.needs,
        "settled": [statement.as_dict() for statement in one.settled],
        "said": [statement.as_dict() for statement in one.said],
    }


def _page(files: PoolFiles, lock: Mapping[str, Any], found: Sequence[Proposal], place: Path) -> list[str]:
    head = f"pool {lock['pool']} · lock {short(lock['digest'])}"
    if not found:
        return [head, "", f"nothing newer that holds together: the pool's repositories have no later set. result.json and page.txt: {place}"]
    return [head, "", *[line for one in found for line in (*_block(one), *_take(files, one, place), "")], f"pass: {len(found)} proposals below {place}"]


def _block(one: Proposal) -> list[str]:
    settled = [f"{'settles':<17}  {statement.reason}" for statement in one.settled]
    said = [f"{statement.severity:<17}  {statement.reason}" for statement in one.said if statement.severity != NOTE]
    return [f"{one.kind} · lock {short(one.lock['digest'])}", *(f"  {line}" for line in (*lines(one.differences), *settled, *said))]


def _take(files: PoolFiles, one: Proposal, place: Path) -> list[str]:
    return [f"  {'take it':<17}  cp {pins_path(one, place)} {files.pins} && cp {lock_path(one, place)} {files.lock}"]
