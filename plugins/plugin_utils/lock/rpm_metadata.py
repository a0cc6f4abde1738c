# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""repomd.xml and primary.xml of a dnf repository (createrepo_c(8)). Pure: bytes in, what they say out.

A document type declaration is refused where it begins, before any entity can be expanded: neither file has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Package, Relation
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import layer_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Repository
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import RPM

_REPO = "{http://linux.duke.edu/metadata/repo}"
_COMMON = "{http://linux.duke.edu/metadata/common}"
_RPM = "{http://linux.duke.edu/metadata/rpm}"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_OPERATORS = {"LT": "<<", "LE": "<=", "EQ": "=", "GE": ">=", "GT": ">>"}
# `nvidia-driver-cuda-libs(x86-64)`: of the same architecture, which all packages of a catalogue are
_ISA = re.compile(r"\((?:x86|aarch)-64\)$")
# A revision is free text; where createrepo_c chose it, it is the time in seconds.
_SECONDS = re.compile(r"[0-9]{9,10}")


@dataclass(frozen=True)
class Content:
    """A file that repomd.xml names: where it lies below the repository's address, and what it must be."""

    href: str
    algorithm: str
    checksum: str
    size: int


@dataclass(frozen=True)
class Repomd:
    """The signed index: when it was made, its tags (createrepo_c --repo, --content, --distro), its primary.xml."""

    date: datetime
    tags: tuple[str, ...]
    primary: Content


class _Builder(TreeBuilder):
    """Elements as they are, without any document type."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise LockError(f"its metadata declares the document type {name}, which no repository's metadata has")


class _PackageBuilder(_Builder):
    """Packages as soon as they are complete; what was read is dropped, for an archive describes 50,000."""

    def __init__(self) -> None:
        super().__init__()
        self.complete: list[Element] = []

    def end(self, tag: str) -> Element:
        element = super().end(tag)
        if tag == f"{_COMMON}package":
            self.complete.append(element)
        return element

    def taken(self) -> Iterator[Element]:
        """The packages completed since, each emptied once it was looked at."""
        for element in self.complete:
            yield element
            element.clear()
        self.complete.clear()


def _parser(builder: _Builder) -> XMLParser:
    # what makes XML unsafe begins in a document type, and the builder takes none
    return XMLParser(target=builder)  # noqa: S314


def read_repomd(text: bytes) -> Repomd:
    """What repomd.xml says; `LockError` where it is none."""
    parser = _parser(_Builder())
    try:
        parser.feed(text)
        root: Element = parser.close()
    except (ParseError, LookupError, ValueError) as error:
        raise LockError(f"its repomd.xml is not XML ({error})") from None
    found = {one.get("type"): one for one in root.iterfind(f"{_REPO}data")}
    if "primary" not in found:
        raise LockError("its repomd.xml names no primary.xml")
    tags = [one.text or "" for one in root.iterfind(f"{_REPO}tags/*")]
    return Repomd(_date(root), tuple(sorted(tags)), _content(found["primary"]))


def _date(root: Element) -> datetime:
    revision = root.findtext(f"{_REPO}revision", "")
    stamps = [revision] if _SECONDS.fullmatch(revision) else [one.text or "" for one in root.iterfind(f"{_REPO}data/{_REPO}timestamp")]
    seconds = [int(float(stamp)) for stamp in stamps if re.fullmatch(r"[0-9]{1,10}(\.[0-9]+)?", stamp)]
    if not seconds:
        raise LockError("its repomd.xml does not say when it was made")
    return datetime.fromtimestamp(max(seconds), timezone.utc)


def _content(data: Element) -> Content:
    location, checksum = _child(data, f"{_REPO}location"), _child(data, f"{_REPO}checksum")
    return Content(location.get("href", ""), checksum.get("type", ""), checksum.text or "", _number(data.findtext(f"{_REPO}size", "")))


def read_primary(chunks: Iterable[bytes], repository: Repository, arch: str) -> tuple[tuple[Package, ...], frozenset[str]]:
    """The owned packages that a node of this architecture can have, and the vendors that they state."""
    packages: list[Package] = []
    vendors: set[str] = set()
    for element in _elements(chunks):
        name = element.findtext(f"{_COMMON}name", "")
        layer = layer_of(name)
        if layer is not None and element.findtext(f"{_COMMON}arch") in (arch, "noarch"):
            packages.append(_package(element, name, layer, repository))
            vendors.add(element.findtext(f"{_COMMON}format/{_RPM}vendor") or "")
    return tuple(packages), frozenset(vendors - {""})


def _elements(chunks: Iterable[bytes]) -> Iterator[Element]:
    builder = _PackageBuilder()
    parser = _parser(builder)
    try:
        for chunk in chunks:
            parser.feed(chunk)
            yield from builder.taken()
        parser.close()
        # expat from 2.6 on may hold a token back until then
        yield from builder.taken()
    except (ParseError, LookupError, ValueError) as error:
        raise LockError(f"its primary.xml is not XML ({error})") from None


def _package(element: Element, name: str, layer: str, repository: Repository) -> Package:
    location, checksum = _child(element, f"{_COMMON}location"), _child(element, f"{_COMMON}checksum")
    if checksum.get("type") != "sha256":
        raise LockError(f"it describes {name} by a checksum of type {checksum.get('type')}; a lock needs SHA-256")
    if location.get(_BASE):
        raise LockError(f"its package {name} lies at another address, {location.get(_BASE)}; a lock needs all of a repository below its own")
    depends = _relations(element, "requires")
    return Package(
        name=name,
        version=_evr(_child(element, f"{_COMMON}version")),
        architecture=element.findtext(f"{_COMMON}arch", ""),
        repository=repository.name,
        origin=repository.origin,
        filename=location.get("href", ""),
        size=_number(_child(element, f"{_COMMON}size").get("package", "")),
        sha256=checksum.text or "",
        layer=layer,
        # what is not ours, rich dependencies among it, is dnf's business on the node
        depends=tuple((relation,) for relation in depends if layer_of(relation.name)),
        provides=_relations(element, "provides"),
        conflicts=_relations(element, "conflicts"),
        order=RPM,
    )


def _relations(element: Element, field: str) -> tuple[Relation, ...]:
    found = map(_relation, element.iterfind(f"{_COMMON}format/{_RPM}{field}/{_RPM}entry"))
    return tuple(dict.fromkeys(relation for relation in found if _is_name(relation.name)))


def _is_name(name: str) -> bool:
    """Whether it names a package or a library of ours, no file, rich dependency or one of a kernel's thousands of symbols."""
    return layer_of(name) is not None or (not name.startswith("/") and "(" not in name)


def _relation(entry: Element) -> Relation:
    name, operator = _ISA.sub("", entry.get("name", "")), _OPERATORS.get(entry.get("flags", ""), "")
    return Relation(name, operator, _evr(entry)) if operator else Relation(name)


def _evr(element: Element) -> str:
    """`3:580.159.03-1.el9`, as dnf and rpm write it: epoch 0 and a release that is not there are left out."""
    epoch, version, release = (element.get(key, "") for key in ("epoch", "ver", "rel"))
    return (f"{epoch}:" if epoch not in ("", "0") else "") + version + (f"-{release}" if release else "")


def _child(element: Element, tag: str) -> Element:
    found = element.find(tag)
    if found is None:
        raise LockError(f"its metadata lacks {tag.partition('}')[2]} in an element {element.tag.partition('}')[2]}")
    return found


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise LockError(f'its metadata has "{text}" where a size is meant')
    return int(text)
