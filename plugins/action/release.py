# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module release: the ledger and the image store lie on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_store import ImageStore, StoreError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import releases
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.action import Call, Handler, LedgerAction
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.files import admitted, read_waivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError, policy, screen
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Release


def _register_environment(call: Call) -> dict[str, Any]:
    return {"changed": releases.register_environment(call.ledger, call.environment, call.params["kind"], call.now)}


def _register(call: Call) -> dict[str, Any]:
    lock = _checked_lock(call)
    numbers = policy.complete(call.params["policy"], f"promotion policy of pool {call.pool} (group_vars/{call.pool}/promotion.yml)")
    release, changed = releases.register(call.ledger, call.environment, lock, _checked_image(call, lock), numbers, call.now, emergency=call.params["emergency"])
    return {"changed": changed, "outcome": "pass", **_described(release), "screen": screen.release_lines(release, changed)}


def _read(call: Call) -> dict[str, Any]:
    found = releases.channels_of(call.ledger, call.environment, call.pool)
    return {"changed": False, "channels": {channel: _described(release) | {"stack": release.lock} if release else None for channel, release in found.items()}}


def _checked_lock(call: Call) -> dict[str, Any]:
    """The lock, which nobody edited and whose pins check_pins has nothing against as of today."""
    waivers_file = call.params["waivers_file"]
    try:
        lock = read_lock(Path(call.params["lock_file"]), call.pool)
        admitted(lock["pins"], read_waivers(Path(waivers_file)) if waivers_file else (), call.now.date(), call.params["lock_file"])
        return lock
    except LockError as error:
        raise PromotionError(str(error)) from error


def _checked_image(call: Call, lock: dict[str, Any]) -> str:
    """The digest of the image: the given one or the newest of this lock; whole in the store, and built from this lock."""
    store = ImageStore(call.ledger.path.parent)
    build = f"build it: ansible-playbook goldnode.gpu.build_image -e pool={call.pool}"
    try:
        record = store.record_of(call.params["image_digest"]) if call.params["image_digest"] else store.newest_of_lock(lock["digest"])
        if record is None:
            raise PromotionError(f"{store.root} has no image of pool {call.pool} that was built from lock {short(lock['digest'])}; {build}")
        if record["lock_digest"] != lock["digest"]:
            raise PromotionError(
                f"image {short(record['image_digest'])} was built from lock {short(record['lock_digest'])}, not from {short(lock['digest'])}; {build}"
            )
        store.path(record["image_digest"])
    except StoreError as error:
        raise PromotionError(str(error).replace("<pool>", call.pool)) from error
    return str(record["image_digest"])


def _described(release: Release) -> dict[str, Any]:
    return {
        "release": release.digest,
        "release_state": release.state,
        "risk": release.risk,
        "lock_digest": release.lock_digest,
        "image_digest": release.image_digest,
        "policy_digest": release.policy_digest,
        "policy": dict(release.policy),
    }


class ActionModule(LedgerAction):
    """Registers environments and releases, and reads channels."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "kind": {"type": "str", "choices": ["lab"], "default": "lab"},
        "lock_file": {"type": "path"},
        "waivers_file": {"type": "path"},
        "image_digest": {"type": "str"},
        "policy": {"type": "dict"},
        "emergency": {"type": "bool", "default": False},
    }
    REQUIRED_IF: ClassVar[list[tuple[str, str, list[str]]]] = [
        ("state", "registered", ["pool", "lock_file", "policy"]),
        ("state", "read", ["pool"]),
    ]
    HANDLERS: ClassVar[dict[str, Handler]] = {"environment": _register_environment, "registered": _register, "read": _read}
    READING: ClassVar[frozenset[str]] = frozenset({"read"})
