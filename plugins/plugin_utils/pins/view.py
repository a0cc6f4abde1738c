# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A pin set as the rules see it: parsed once, with what is known of its GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import architectures, driver_branches, gpus
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import distributions, drivers, engines, products, toolkits
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import Numbers, Version, number, version

ENGINE_PARTS = {"docker": ("version", "containerd", "runc"), "containerd": ("version", "runc"), "podman": ("version",)}


@dataclass(frozen=True)
class Gpu:
    """One entry of gpus: `words` are its model with the product name of a PCI id."""

    place: str
    model: str
    count: int
    words: str

    @cached_property
    def architecture(self) -> driver_branches.Architecture | None:
        """Its generation, None where neither name nor device id tells it."""
        return driver_branches.of_device(self.model) or driver_branches.of_name(self.words) or driver_branches.of_name(self.words.upper())

    @cached_property
    def capability(self) -> tuple[int, int] | None:
        """Its compute capability by its name."""
        return architectures.capability(self.words)

    @cached_property
    def product(self) -> products.Product:
        """Its peculiarities."""
        return products.product(self.words)

    @property
    def switch(self) -> str:
        """Where NVSwitch is for it; a generation's name, or a device without a known product, does not tell."""
        return self.product.switch or (products.NOWHERE if self.capability else products.UNKNOWN)

    @property
    def is_consumer(self) -> bool:
        """Whether CUDA's forward compatibility refuses it (804)."""
        return bool(re.search(architectures.CONSUMER, self.words, re.I))

    def __str__(self) -> str:
        return self.model if self.words == self.model else f"{self.model} ({self.words.removeprefix(self.model).strip()})"


@dataclass(frozen=True)
class Image:
    """A container image of the pins. `own_canary`: our canary, which holds PTX and no CUDA user space (docs/canary.md)."""

    place: str
    reference: str
    cuda: tuple[int, int]
    framework: str
    own_canary: bool

    @property
    def is_canary(self) -> bool:
        return self.place == "canary_image"

    def __str__(self) -> str:
        return self.reference.partition("@")[0].rpartition("/")[2] or self.reference


@dataclass(frozen=True)
class PinSet:
    """Pins that fit their schema, and the day on which they are judged."""

    pins: Mapping[str, Any]
    today: date

    @cached_property
    def distribution(self) -> str:
        return str(self.pins["os"]["distribution"])

    @cached_property
    def release(self) -> str:
        return str(self.pins["os"]["release"])

    @cached_property
    def arch(self) -> str:
        return str(self.pins["os"]["arch"])

    @cached_property
    def cgroup(self) -> int:
        return int(self.pins["os"]["cgroup"])

    @cached_property
    def family(self) -> str:
        """`rhel` for its rebuilds too."""
        return distributions.family(self.distribution)

    @cached_property
    def known_release(self) -> distributions.Release | None:
        return distributions.release_of(self.distribution, self.release)

    @property
    def system(self) -> str:
        """As a sentence names it."""
        return f"{self.distribution} {self.release}"

    @cached_property
    def kernel(self) -> str:
        return str(self.pins["kernel"]["version"])

    @cached_property
    def kernel_numbers(self) -> Numbers:
        return number(self.kernel.split("*")[0])

    @cached_property
    def driver(self) -> Version:
        return version(self.pins["nvidia_driver"]["version"], tuple(drivers.releases()))

    @cached_property
    def branch(self) -> int:
        return self.driver.numbers[0] if self.driver.numbers else 0

    @cached_property
    def modules(self) -> str:
        return str(self.pins["nvidia_driver"]["modules"])

    @cached_property
    def prebuilt(self) -> bool:
        return bool(self.pins["nvidia_driver"]["build"] == "prebuilt")

    @cached_property
    def gpus(self) -> tuple[Gpu, ...]:
        return tuple(_gpu(index, one) for index, one in enumerate(self.pins["gpus"]))

    @cached_property
    def toolkit(self) -> Version | None:
        """None where the pool has none on purpose."""
        pinned = self.pins["container_toolkit"]
        return version(pinned["version"], toolkits.KNOWN) if pinned else None

    @cached_property
    def engine(self) -> str:
        return str(self.pins["container_engine"])

    @cached_property
    def parts(self) -> dict[str, Version]:
        """The engine's programs by name: docker, containerd, runc, podman."""
        pinned = self.pins[self.engine]
        names = {key: self.engine if key == "version" else key for key in ENGINE_PARTS[self.engine]}
        return {name: version(pinned[key], engines.KNOWN[name]) for key, name in names.items()}

    def part_place(self, name: str) -> str:
        """The dotted pin of one of the engine's programs."""
        return f"{self.engine}.{'version' if name == self.engine else name}"

    def is_distributions(self, name: str) -> bool:
        """Whether a program of the engine is the distribution's own package: by its revision, or because all of them have the archive's numbers."""
        if self.parts[name].is_of(self.family) or (self.family, name) in engines.ALWAYS_DISTRIBUTION:
            return True
        archive = engines.DISTRIBUTION.get((self.distribution, self.archive_release), {})
        return all(part.upstream in archive.get(one, ()) for one, part in self.parts.items())

    @property
    def archive_release(self) -> str:
        """The release as its archive names it."""
        return distributions.archive(self.distribution, self.release)

    @cached_property
    def distributions_driver(self) -> bool:
        """Whether the driver is one that the distribution itself maintains."""
        if self.distribution == "ubuntu" and "-" in self.driver.text:
            return "-0ubuntu" in self.driver.text  # NVIDIA's own packages for Ubuntu have -1ubuntu1
        return self.driver.upstream in drivers.DISTRIBUTION.get((self.distribution, self.archive_release), ())

    @cached_property
    def images(self) -> tuple[Image, ...]:
        places = [("canary_image", self.pins["canary_image"])]
        places += [(f"workload_images[{index}]", one) for index, one in enumerate(self.pins.get("workload_images", []))]
        return tuple(_image(place, one) for place, one in places)

    def pinned(self, subject: str) -> Version | None:
        """An optional companion of the driver (fabric_manager, nvlsm, imex) where it is pinned."""
        return version(self.pins[subject]["version"], tuple(drivers.releases())) if subject in self.pins else None


def _gpu(index: int, entry: Mapping[str, Any]) -> Gpu:
    model = str(entry["model"]).replace("_", " ")
    name = gpus.PRODUCTS.get(model.lower().removeprefix("10de:"), "") if re.fullmatch(r"(?i)10de:[0-9a-f]{4}", model) else ""
    return Gpu(f"gpus[{index}]", str(entry["model"]), int(entry["count"]), f"{model} {name}".strip())


def _image(place: str, entry: Mapping[str, Any]) -> Image:
    reference = str(entry["reference"])
    name = reference.partition("@")[0].rpartition("/")[2]
    own = place == "canary_image" and "canary" in name
    major, _dot, minor = str(entry["cuda"]).partition(".")
    return Image(place, reference, (int(major), int(minor)), str(entry.get("framework", "")), own)
