# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Evidence bundles in files: finding them, and reading one that anybody may have written, within bounds of time and memory."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import SPOKEN
from ansible_collections.goldnode.gpu.plugins.module_utils.probe import PROBES
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.yaml_text import NOT_CONSTRUCTED, TextLoader, load_single, read_regular, refuse_endless, weight

SCHEMA = "goldnode.evidence/v1"
NAME = re.compile(r"(?s)(?P<stem>.+)\.evidence\.(?:ya?ml|json)")
LIMIT_BYTES = 1 << 28  # of a file
LIMIT_WEIGHT = 1 << 29  # of what a file says once every alias is written out
LIMIT_TEXT = 1 << 21  # characters of one text; four times what the probe keeps of one
ENCODINGS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# YAML 1.1 allows no other characters, not even escaped by nothing: one terminal colour would cost the whole bundle.
NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# What people put into a bundle and no probe collects (docs/evidence.md).
WRITTEN = """
uname_r kernel_config modprobe_nvidia mokutil_sb_state mok_list journal dkms_build_log rpm_qa apt_showhold apt_policy apt_preferences
dnf_versionlock unattended_upgrades mounts df lscpu numa proc_stat timedatectl systemd_version proc_driver_nvidia_params nvidia_smi_xml nvidia_smi_q
nvidia_smi_topo nvidia_smi_nvlink nvidia_smi_mig nvidia_smi_processes nvlsm_service imex_service ls_dev_char id_groups nvidia_container_cli_version
nvidia_container_cli_log cdi_list cdi_generate_log ldconfig_p l4t_version docker_context docker_host docker_ps docker_inspect snap_list containerd_config
audit_avc docker_security_options lxc_config compose_file pod_manifest pod_events pod_log node_allocatable device_plugin_log device_plugin_env
gpu_operator_values kubelet_log app_log recent_commands
"""


class UnreadableError(Exception):
    """Why a bundle cannot be judged, in one sentence."""


@dataclass(frozen=True)
class Read:
    """A bundle that can be judged, and what was odd about it."""

    evidence: dict[str, Any]
    notes: tuple[str, ...]


class BundleLoader(TextLoader):
    """YAML without time stamps, which are text to us, and without merge keys, which grow without bound."""


BundleLoader.yaml_implicit_resolvers = {
    letter: [known for known in resolvers if known[0].rpartition(":")[2] not in ("timestamp", "merge")]
    for letter, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@lru_cache(maxsize=None)
def known_probes() -> frozenset[str]:
    """Every probe name that somebody collects, writes or reads."""
    return frozenset(WRITTEN.split()).union((name for name, _layers, _how in PROBES), SPOKEN, *(rule.probes for rule in RULES.values()))


def find(place: Path) -> dict[str, list[Path]]:
    """The bundles at a path, a file or a directory, by stem; more than one file of a stem is for the caller to refuse."""
    if "\0" in str(place):
        raise UnreadableError("the path of the evidence holds a NUL, which no file can")
    if place.is_dir():
        found: dict[str, list[Path]] = {}
        for path in sorted(place.iterdir()):
            if match := NAME.fullmatch(path.name):
                found.setdefault(match["stem"], []).append(path)
        return found
    if not place.exists():
        raise UnreadableError(f"{place} does not exist; expected an evidence bundle, or a directory with *.evidence.yml or *.evidence.json")
    match = NAME.fullmatch(place.name)
    return {match["stem"] if match else place.stem: [place]}


def read(path: Path) -> Read:
    """One bundle; raises UnreadableError with one sentence."""
    text, notes = _text(_bytes(path))
    evidence = _checked(_parsed(text, path, notes))
    return Read(_cut(evidence, notes), (*notes, *_odd_probes(evidence["probes"])))


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, LIMIT_BYTES, advice=": cut its longest text, say the kernel log")
    except OSError as error:
        raise UnreadableError(f"it cannot be read: {os.strerror(error.errno or 0)}") from error
    except ValueError as error:
        raise UnreadableError(str(error)) from error


def _text(data: bytes) -> tuple[str, list[str]]:
    """The text, and a note where bytes were lost."""
    encoding = next((name for mark, name in ENCODINGS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, [f"it is not UTF-8: {text.count(chr(0xFFFD))} characters could not be read"]


def _parsed(text: str, path: Path, notes: list[str]) -> Any:
    """JSON by its name or its first letter, else YAML."""
    try:
        if path.suffix == ".json":
            return json.loads(text)
        return _json_or_none(text) or _yaml(NOT_YAML.sub("\ufffd", text), notes)
    except RecursionError as error:
        raise UnreadableError("it is nested too deeply") from error
    except yaml.MarkedYAMLError as error:
        where = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UnreadableError(f"it is not YAML: {error.problem}{where}") from error
    except (*NOT_CONSTRUCTED, yaml.YAMLError) as error:
        raise UnreadableError(f"it is not {'JSON' if path.suffix == '.json' else 'YAML'}: {' '.join(str(error).split())[:200]}") from error


def _yaml(text: str, notes: list[str]) -> Any:
    refuse_endless(text)
    loader = BundleLoader(text)
    read = load_single(loader)
    notes += [f"key {key[:80]}, stands twice: the last one was read" for key in loader.twice]
    # JSON has no aliases
    if weight(read) > LIMIT_WEIGHT:
        raise UnreadableError(f"its aliases stand for more than {LIMIT_WEIGHT >> 20} MiB; expected a bundle without aliases")
    return read


def _json_or_none(text: str) -> Any:
    """A probe's output under a YAML name: JSON is read twenty times as fast."""
    try:
        return json.loads(text) if text.lstrip()[:1] == "{" else None
    except ValueError:
        return None


def _checked(parsed: Any) -> dict[str, Any]:
    """The mapping that a bundle is."""
    if not isinstance(parsed, dict):
        raise UnreadableError(f"it is {_kind(parsed)}; expected a mapping with schema {SCHEMA}")
    if parsed.get("schema") != SCHEMA:
        said = ascii(parsed["schema"]).strip("'")[:80] if isinstance(parsed.get("schema"), (str, int, float)) else "missing"
        raise UnreadableError(f"its schema is {said}; expected {SCHEMA}")
    for key, kind in (("probes", dict), ("stated", dict), ("runs", list)):
        if not isinstance(parsed.setdefault(key, kind()), kind):
            raise UnreadableError(f"its {key} are {_kind(parsed[key])}; expected a {'mapping' if kind is dict else 'list'}")
    return parsed


def _cut(evidence: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """The bundle with each text of a bearable length; what was cut says so and is not complete."""
    probes = {str(name): _cut_form(str(name), value, notes) for name, value in evidence["probes"].items()}
    runs = [_cut_form(f"run {number}", run, notes) for number, run in enumerate(evidence["runs"], start=1)]
    return {**evidence, "probes": probes, "runs": runs}


def _cut_form(name: str, value: Any, notes: list[str]) -> Any:
    if isinstance(value, str):
        return _cut_text(name, value, notes)
    if not isinstance(value, dict) or not any(isinstance(text, str) and len(text) > LIMIT_TEXT for text in value.values()):
        return value
    shorter = {key: _cut_text(name, text, notes) if isinstance(text, str) else text for key, text in value.items()}
    return shorter if str(next(iter(value))).startswith("/") else {**shorter, "complete": False, "truncated": True}


def _cut_text(name: str, text: str, notes: list[str]) -> str:
    """The whole lines of its beginning, where a log tells of the boot, and of its end, where it tells of the fault."""
    if len(text) <= LIMIT_TEXT:
        return text
    half = LIMIT_TEXT // 2
    notes.append(f"{name} has {len(text) >> 20} MiB: only its first and last {half >> 20} MiB were read")
    return text[:half].rpartition("\n")[0] + "\n" + text[-half:].partition("\n")[2]


def _odd_probes(probes: Mapping[str, Any]) -> Iterator[str]:
    """A note for each probe whose value has no form of docs/evidence.md."""
    for name, value in probes.items():
        if not isinstance(value, (str, dict)):
            yield f"probe {name} is {_kind(value)}; expected text or a mapping"
        elif isinstance(value, dict):
            wrong = [key for key in ("stdout", "stderr", "content", "error") if not isinstance(value.get(key, ""), str)]
            yield from (f"{key} of probe {name} is {_kind(value[key])}; expected text" for key in wrong)


def _kind(value: Any) -> str:
    """A YAML value's kind, as people call it."""
    kinds = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number", type(None): "empty"}
    return kinds.get(type(value), f"a {type(value).__name__}")
