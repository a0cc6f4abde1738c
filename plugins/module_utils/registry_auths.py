# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Docker's client configuration: credentials for registries among what else stands there. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.daemon_config import parsed
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import as_json
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


def config_text(former: str, credentials: Mapping[str, Any], given: Collection[str], path: str) -> str:
    """The file with these credentials, without those of `given` that are no longer asked for; the former text where it says so already.

    Empty where nothing is left that somebody else wrote.
    """
    present = parsed(former, path)
    auths = {name: auth for name, auth in (present.get("auths") or {}).items() if name not in given}
    wanted = {**auths, **{name: {"auth": _encoded(name, one)} for name, one in credentials.items()}}
    others = {key: value for key, value in present.items() if key != "auths"}
    after = {**others, **({"auths": wanted} if wanted else {})}
    if after == {**others, **({"auths": present["auths"]} if present.get("auths") else {})}:
        return former
    return json.dumps(after, indent=4, sort_keys=True) + "\n" if after else ""


def _encoded(registry: str, one: Any) -> str:
    if not isinstance(one, Mapping) or not one.get("username") or not one.get("password"):
        raise RefusedError(f"docker_registry_credentials has {registry} without username or password; expected both, from a vault; nothing was changed")
    return base64.b64encode(f"{one['username']}:{one['password']}".encode()).decode()


def recorded(text: str) -> set[str]:
    """The registries that an earlier run gave credentials for."""
    return set((as_json(text) or {}).get("registries") or ())


def record_text(registries: Collection[str]) -> str:
    """The record; empty, so no file, where there is nothing to remember."""
    return json.dumps({"registries": sorted(registries)}) + "\n" if registries else ""
