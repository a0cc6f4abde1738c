# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Evidence without the names of a site: each identifier becomes a neutral value, the same one wherever it stands in any bundle of a run.

What a diagnosis needs stays: versions, PCI addresses, device numbers, digests, nonces, checksums, and vendors' domains. The probe has cut secrets already.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES

Bundle = Mapping[str, Any]

HEX = "[0-9a-fA-F]"
TOP_LEVEL = "com|org|net|io|ai|dev|app|cloud|local|internal|intranet|lan|home|corp|edu|gov|mil|info|biz|de|uk|fr|nl|ch|eu|us|ca|cn|jp|kr|ru|br|au|se|fi|pl"
DOMAIN = rf"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,62}}[A-Za-z0-9])?\.)+(?:{TOP_LEVEL})(?![\w-]|\.\w)"

# The group of a kind's name is the identifier; what else a pattern holds says what it is. Where several fit, the first is taken.
PATTERNS = (
    rf"(?<!{HEX})(?P<uuid>{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}|{HEX}{{8}}(?:_{HEX}{{4}}){{3}}_{HEX}{{12}})(?!{HEX})",
    rf"(?<![\w.+-])(?P<email>[\w.+-]+@{DOMAIN})",
    r"/(?:home\d*|[Uu]sers)/(?P<user>[A-Za-z0-9_][\w.-]*)",
    r"(?<![\w.@-])(?P<login>[a-z_][\w-]*)(?=@[A-Za-z][\w.-]*:[~/])",
    r"(?<!\w)(?:USER|LOGNAME)=(?P<named>[a-z_][\w-]*)|(?<!\w)[ug]id=\d+\((?P<numbered>[a-z_][\w-]*)",
    rf"(?<!\w)MAC=(?P<frame>(?:{HEX}{{2}}:){{13}}{HEX}{{2}})(?![\w:])",
    rf"(?<![\w:.-])(?P<mac>(?:{HEX}{{2}}:){{5}}{HEX}{{2}})(?![\w:-])",
    r"(?<!\w)SN:\s{0,8}(?P<sn>\d{8,16})(?!\w)",
    r"(?i:serial(?:[ _-]?(?:number|no\b\.?))?)[\"'>]*\s*[:=>]?\s*[\"']?(?P<serial>(?=[A-Za-z-]*\d)[A-Za-z0-9][A-Za-z0-9-]{5,})(?![\w:/.])",
    r"(?<![\w:])(?P<container>[0-9a-f]{64})(?!\w)",
    r"(?i:container(?:[ _]?id)?)[ =:\"']{1,4}(?P<short>[0-9a-f]{12})(?!\w)",
    rf"(?<![\w:.])(?P<ipv6>(?:{HEX}{{0,4}}:){{2,7}}{HEX}{{0,4}})(?![\w:.])",
    r"(?<![\w.+~-])(?P<ipv4>(?:\d{1,3}\.){3}\d{1,3})(?![\w+~-]|\.\d)",
    rf"(?<![\w./-])(?P<domain>{DOMAIN})|(?<=//)(?P<site>{DOMAIN})",
)
FORMS: dict[str, Callable[[int], str]] = {
    "node": lambda number: f"node-{number}",
    "pool": lambda number: f"pool-{number}",
    "uuid": lambda number: f"{number:08x}-0000-4000-8000-000000000000",
    "email": lambda number: f"user{number}@example.com",
    "user": lambda number: f"user{number}",
    "mac": lambda number: "02:00:00:" + ":".join(f"{number:06x}"[at : at + 2] for at in (0, 2, 4)),
    "serial": lambda number: f"{number:013d}",
    "container": lambda number: f"{number:012x}" + "0" * 52,
    "ipv6": lambda number: f"2001:db8::{number:x}",
    "ipv4": lambda number: f"198.{18 + (number >> 16)}.{number >> 8 & 255}.{number & 255}",
    "domain": lambda number: f"site-{number}.example.com",
}
# Who makes what runs on a node: says where a package or an image is from, and nothing of the site.
VENDORS = re.compile(
    r"(?i)(?:^|\.)(?:nvidia\.com|nvcr\.io|docker\.(?:com|io|internal)|containerd\.io|k8s\.io|kubernetes\.io|gcr\.io|ghcr\.io|quay\.io|github\.(?:com|io)|debian\.org"
    r"|githubusercontent\.com|ubuntu\.com|canonical\.com|launchpad\.net|kernel\.org|redhat\.com|fedoraproject\.org|centos\.org|rockylinux\.org|almalinux\.org|suse\.com"
    r"|opensuse\.org|googleapis\.com|google\.com|microsoft\.com|intel\.com|amd\.com|pytorch\.org|tensorflow\.org|python\.org|pypi\.org|anaconda\.com|freedesktop\.org"
    r"|gnu\.org|opencontainers\.org|example\.(?:com|org|net)|proxmox\.com|archlinux\.org|rpmfusion\.org)$"
)
# A dotted quad after one of these words is a version.
VERSIONED = re.compile(r"(?:version|release|driver|firmware|bios|cudnn|cuda|nccl|tensorrt|toolkit|\bv)\W*$", re.IGNORECASE)
# Lists of packages and modules: full of versions, free of addresses.
PACKAGES = frozenset(["dpkg_l", "rpm_qa", "apt_policy", "apt_showhold", "apt_history", "dkms_status", "modinfo_nvidia", "dnf_versionlock", "snap_list"])
# What names nobody: where the probe looked, when, for which release, and what the judge compares with its own computation.
KEPT = frozenset(["schema", "nonce", "release", "probe_version", "rung", "captured_at", "clock", "started_at", "roots", "complete", "truncated"])
COMPUTED = re.compile(r"\"(?:checksum|expected|nonce)\": ?\"([0-9a-f]+)\"")
HOST_NAMES = (
    re.compile(r"Hostname set to <([^>]+)>"),
    re.compile(r"^ Name: (\S+)$", re.M),  # docker info
    re.compile(r"\"Name\": ?\"([^\"]+)\", ?\"Labels\""),
    re.compile(r"(?i)\b(?:nodeName|node_name|hostname)\b\\?[\"']?\s*[:=]\s*\\?[\"']?([a-z0-9][\w.-]+)"),
    re.compile(r"^Node:\s+([\w.-]+)", re.M),
    re.compile(r"assigned \S+ to ([\w.-]+)$", re.M),
    re.compile(r"^(?:\w{3} +\d+ [\d:]{8}|\d{4}-\d\d-\d\dT\S+) ([\w.-]+) kernel:", re.M),
    re.compile(r"(?<![\w.@-])[a-z_][\w-]*@([A-Za-z][\w.-]*)(?=:[~/])"),
)


class Anonymiser:
    """The neutral values of one run: it learns the hosts from all bundles, then replaces in each."""

    def __init__(self, bundles: Collection[Bundle], hosts: Iterable[str] = ()) -> None:
        found = [text for bundle in bundles for text in _texts(bundle)]
        names = {*hosts, *(str(bundle["node"]) for bundle in bundles if bundle.get("node"))}
        names.update(name for text in found for pattern in HOST_NAMES for name in pattern.findall(text))
        self._neutral: dict[str, dict[str, str]] = {kind: {} for kind in FORMS}
        self._computed = frozenset(value for text in found for value in COMPUTED.findall(text)) | {str(bundle.get("nonce")) for bundle in bundles}
        self._hosts = _telling(names)
        own = rf"(?<![\w.-])(?P<host>(?i:{'|'.join(map(re.escape, self._hosts))})(?:\.[A-Za-z][\w-]*)*)(?![A-Za-z0-9]|-(?!ib\d))"
        self._pattern = re.compile("|".join([*PATTERNS, *([own] if self._hosts else [])]))

    def bundle(self, bundle: Bundle) -> dict[str, Any]:
        """The bundle with neutral values only."""
        named = {key: self.neutral(key, _first_label(str(bundle[key]))) for key in ("node", "pool") if bundle.get(key)}
        return {**{key: self._value(value, key) for key, value in bundle.items()}, **named}

    def neutral(self, kind: str, value: str) -> str:
        """What stands for an identifier: the form of its kind with the number in which it was met."""
        known = self._neutral[kind]
        return known.setdefault(value.lower(), FORMS[kind](len(known) + 1))

    def _value(self, value: Any, name: str) -> Any:
        """A value of any shape; `name` is the key that it stands under."""
        if name in KEPT:
            return value
        if isinstance(value, str):
            return self._pattern.sub(lambda match: self._replaced(match, name), value)
        if isinstance(value, Mapping):
            inner = {key: name if key in ("stdout", "stderr", "content", "error") else key for key in value}
            return {self._value(key, "") if isinstance(key, str) else key: self._value(item, inner[key]) for key, item in value.items()}
        return [self._value(item, name) for item in value] if isinstance(value, (list, tuple)) else value

    def _replaced(self, match: re.Match[str], probe: str) -> str:
        """The match with its identifier, the one named group that took part, replaced."""
        kind = str(match.lastgroup)
        before, found, after = (match.string[start:end] for start, end in _parts(match, kind))
        if kind in ("ipv4", "ipv6") and _is_no_address(found, match.string[max(0, match.start() - 24) : match.start()], probe):
            return match.group()
        return before + self._stand_in(kind, found) + after

    def _stand_in(self, kind: str, found: str) -> str:
        """The neutral value of one identifier in the form in which it was found."""
        if found in self._computed or found == "root" or VENDORS.search(found):
            return found
        if kind == "uuid":
            return self.neutral("uuid", found.replace("_", "-")).replace("-", "_" if "_" in found else "-")
        if kind in ("container", "short"):
            return self.neutral("container", found[:12])[: len(found)]
        if kind in ("domain", "site", "host"):
            return self._place(found)
        return self.neutral({"login": "user", "named": "user", "numbered": "user", "frame": "mac", "sn": "serial"}.get(kind, kind), found)

    def _place(self, name: str) -> str:
        """A host by its first label, `gpu7` and `gpu7.site.example` being one; else a domain."""
        label = _first_label(name)
        return self.neutral("node", label) if {label.lower(), name.lower()} & {host.lower() for host in self._hosts} else self.neutral("domain", name)


def _telling(names: Iterable[str]) -> list[str]:
    """The host names that may be replaced wherever they stand, longest first.

    A host that is called by a word of the field, such as `gpu`, identifies nobody, and evidence must not lose that word.
    """
    words = _vocabulary()
    found = {label for name in names for label in (name, _first_label(name)) if len(label) > 1 and label.lower() not in words and not label.isdigit()}
    return sorted((name for name in found if not VENDORS.search(name)), key=lambda name: (-len(name), name))


def _vocabulary() -> frozenset[str]:
    """The field's own words, out of the rules' pages."""
    pages = (" ".join((rule.id, *rule.probes, rule.title, rule.symptom, rule.cause, rule.fix, rule.verify)) for rule in RULES.values())
    return frozenset(word.lower() for page in pages for word in re.findall(r"[A-Za-z0-9]+", page)) | {"localhost", "none", "kernel", "root"}


def _first_label(name: str) -> str:
    return name.split(".")[0]


def _texts(value: Any) -> Iterator[str]:
    """Every text of a bundle."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _parts(match: re.Match[str], kind: str) -> tuple[tuple[int, int], ...]:
    """Where a match has what stands before its identifier, the identifier, and what stands behind."""
    start, end = match.span(kind)
    return (match.start(), start), (start, end), (end, match.end())


def _is_no_address(found: str, before: str, probe: str) -> bool:
    """A version, or an address that every machine has."""
    if probe in PACKAGES or VERSIONED.search(before):
        return True
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return True
    return address.is_loopback or address.is_unspecified or address.is_multicast or found.startswith("255.")
