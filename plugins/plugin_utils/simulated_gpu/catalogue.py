# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The catalogue of stand-in packages: from `catalogue.yml` to one `Package` for each name and version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

WORD = re.compile(r"@([a-z_]+)@")


class CatalogueError(ValueError):
    """The catalogue says something that cannot be built; one sentence."""


@dataclass(frozen=True)
class Package:
    """One Debian package to build. Paths are absolute on the node, sources relative to the role's files."""

    name: str
    version: str
    repository: str
    fields: Mapping[str, str]
    words: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)
    conffiles: tuple[str, ...] = ()
    nouveau: str | None = None

    @property
    def file_name(self) -> str:
        """The name that apt's repositories use."""
        return f"{self.name}_{self.version}_amd64.deb"


def fill(text: str, words: Mapping[str, str]) -> str:
    """Replace every `@word@`; an unknown word is an error."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in words:
            raise CatalogueError(f"nothing says what {match[0]} is; known here: {', '.join(sorted(words))}")
        return words[match[1]]

    return WORD.sub(value, text)


def filled(mapping: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """The same for keys and values."""
    return {fill(key, words): fill(value, words) for key, value in mapping.items()}


def package_of(entry: Mapping[str, Any], variant: Mapping[str, Any], repository: str, revision: str) -> Package:
    """One package in one version."""
    version = f"{variant['version']}-{revision}"
    words = {key: str(value) for key, value in {**variant, **entry.get("words", {}), "package_version": version}.items()}
    control = {"Section": entry["section"], "Depends": entry.get("depends"), "Conflicts": entry.get("conflicts"), "Description": entry["description"]}
    return Package(
        name=fill(entry["name"], words),
        version=version,
        repository=repository,
        fields={key: fill(value, words) for key, value in control.items() if value},
        words=words,
        files=filled(entry.get("files", {}), words),
        programs=filled(entry.get("programs", {}), words),
        libraries=filled(entry.get("libraries", {}), words),
        links=filled(entry.get("links", {}), words),
        scripts=dict(entry.get("scripts", {})),
        conffiles=tuple(entry.get("conffiles", ())),
        nouveau=fill(entry["nouveau"], words) if "nouveau" in entry else None,
    )


def packages(catalogue: Mapping[str, Any]) -> Iterator[Package]:
    """Every package of the catalogue, in its order."""
    for entry in catalogue["packages"]:
        family = catalogue["families"][entry["family"]]
        for variant in family["variants"]:
            yield package_of(entry, variant, family["repository"], catalogue["revision"])
