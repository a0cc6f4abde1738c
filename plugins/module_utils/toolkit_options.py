# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The options of the container toolkit's config.toml: which there are, what they take, and which a node must not have. Pure.

Sources: NVIDIA/nvidia-container-toolkit api/config/v1 at 1.20.0 (config.go, runtime.go, cli.go, features.go), CHANGELOG.md for the `since`;
troubleshooting.md of NVIDIA/cloud-native-docs (2026-08-21) for no-cgroups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Tuple

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least

Numbers = Tuple[int, ...]


class Option(NamedTuple):
    """What an option takes: a type, of text the accepted words (none: any), and the toolkit's first release that knows it."""

    takes: type
    words: tuple[str, ...] = ()
    since: Numbers = (0,)


TEXT, FLAG, LIST = Option(str), Option(bool), Option(list)
_CLI, _RUNTIME, _MODES, _HOOK, _FEATURES = (
    *("nvidia-container-cli", "nvidia-container-runtime", "nvidia-container-runtime.modes"),
    *("nvidia-container-runtime-hook", "features"),
)
MODE_WORDS = ("auto", "cdi", "csv", "legacy")
OPTIONS: dict[str, Option] = {
    "accept-nvidia-visible-devices-as-volume-mounts": FLAG,
    "accept-nvidia-visible-devices-envvar-when-unprivileged": FLAG,
    "disable-require": FLAG,
    "supported-driver-capabilities": TEXT,
    "swarm-resource": TEXT,
    "nvidia-ctk.path": TEXT,
    f"{_CLI}.debug": TEXT,
    f"{_CLI}.environment": LIST,
    f"{_CLI}.ldcache": TEXT,
    f"{_CLI}.ldconfig": TEXT,
    f"{_CLI}.load-kmods": FLAG,
    f"{_CLI}.no-cgroups": FLAG,
    f"{_CLI}.no-pivot": FLAG,
    f"{_CLI}.path": TEXT,
    f"{_CLI}.root": TEXT,
    f"{_CLI}.user": TEXT,
    f"{_RUNTIME}.debug": TEXT,
    f"{_RUNTIME}.log-level": Option(str, ("debug", "info", "warning", "error", "trace")),
    f"{_RUNTIME}.mode": Option(str, (*MODE_WORDS, "jit-cdi")),
    f"{_RUNTIME}.runtimes": LIST,
    f"{_MODES}.cdi.annotation-prefixes": LIST,
    f"{_MODES}.cdi.default-kind": TEXT,
    f"{_MODES}.cdi.spec-dirs": LIST,
    f"{_MODES}.csv.mount-spec-path": TEXT,
    f"{_MODES}.legacy.cuda-compat-mode": Option(str, ("disabled", "hook", "ldconfig", "mount"), (1, 17, 7)),
    f"{_HOOK}.path": TEXT,
    f"{_HOOK}.skip-mode-detection": FLAG,
    f"{_FEATURES}.allow-cuda-compat-libs-from-container": Option(bool, since=(1, 17, 4)),
    f"{_FEATURES}.allow-ldconfig-from-container": Option(bool, since=(1, 17, 3)),
    f"{_FEATURES}.disable-cuda-compat-lib-hook": Option(bool, since=(1, 17, 5)),
    f"{_FEATURES}.disable-imex-channel-creation": Option(bool, since=(1, 17)),
    f"{_FEATURES}.ignore-imex-channel-requests": Option(bool, since=(1, 17)),
}
# What a node of this collection, whose engine runs as root, must not have: value, and what it would do.
HARMFUL: dict[str, tuple[Any, str]] = {
    f"{_CLI}.no-cgroups": (
        True,
        "it is for rootless engines: under a rootful one containers get device nodes that they may not open (Failed to initialize NVML: Unknown Error)",
    ),
    f"{_RUNTIME}.mode": ("csv", "it injects what the CSV files of a Jetson list, and nothing on any other machine"),
    f"{_FEATURES}.allow-ldconfig-from-container": (True, "an image's own ldconfig would run with the host's rights (CVE-2024-0136)"),
}
# Mode jit-cdi is a value of its own from 1.18.0 on; `nvidia-ctk config --set` separates list items by a colon from 1.16.0 on (release notes).
JIT_CDI_SINCE, COLON_SINCE = (1, 18), (1, 16)


def objection(options: Mapping[str, Any], version: str) -> str | None:
    """The first reason not to set the options, in one sentence; None where there is none."""
    return next((reason for name, value in sorted(options.items()) for reason in [_objection(name, value, version)] if reason), None)


def _objection(name: str, value: Any, version: str) -> str | None:
    option = OPTIONS.get(name)
    if option is None:
        near = [known for known in OPTIONS if known.rpartition(".")[2] == name.rpartition(".")[2]] or sorted(OPTIONS)
        return f"container_toolkit_options has {name}, which config.toml does not know; accepted: {', '.join(near)}"
    if not at_least(version, JIT_CDI_SINCE if value == "jit-cdi" else option.since):
        return f"container_toolkit_options sets {name} to {value}, which toolkit {version} does not know; take it out or pin a newer toolkit"
    if not isinstance(value, option.takes):
        return f"container_toolkit_options sets {name} to {value!r}; expected {_kind(option)}"
    if option.words and value not in option.words:
        return f"container_toolkit_options sets {name} to {value}; accepted: {', '.join(option.words)}"
    harmful, effect = HARMFUL.get(name, (None, ""))
    return f"container_toolkit_options sets {name} to {str(value).lower()}: {effect}; take it out" if harmful is not None and value == harmful else None


def _kind(option: Option) -> str:
    return {bool: "true or false", str: "text", list: "a list"}[option.takes]


def assignments(options: Mapping[str, Any], version: str) -> list[str]:
    """`name=value` as `nvidia-ctk config --set` of that version takes them."""
    separator = ":" if at_least(version, COLON_SINCE) else ","
    return [f"{name}={_text(value, separator)}" for name, value in sorted(options.items())]


def _text(value: Any, separator: str) -> str:
    if isinstance(value, list):
        return separator.join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
