"""Building a container image: the commands, the cache's key, and that a half-made build is never taken for a whole one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils import container_image as image

ROOT = Path(__file__).parents[4]
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "canary/recipe.yml").read_text())
MIRROR = "http://mirror.example/debian"

# As apt 2.6.1 of Debian 12 prints it, the host replaced.
INDEXTARGETS = """\
Debian oldstable-security http://mirror.example/debian-security/
vendor stable http://vendor.example/apt/
Debian oldstable http://mirror.example/debian/
"""


def test_mirror_is_the_machines_own_archive() -> None:
    assert image.debian_mirror(INDEXTARGETS) == "http://mirror.example/debian/"


def test_machine_without_debian_archive_must_name_one() -> None:
    with pytest.raises(image.ImageError, match="name one with the parameter mirror"):
        image.debian_mirror("Ubuntu noble http://mirror.example/ubuntu/\n")


def test_root_is_unpacked_by_one_command(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("x")
    recipe = {
        "suite": "trixie",
        "packages": ["python3-minimal", "libc-bin"],
        "exclude": ["/usr/share/*"],
        "include": ["/usr/share/doc/*/copyright"],
        "files": [{"source": "a file", "target": "/usr/lib/x"}],
    }
    assert image.root_argv(recipe, tmp_path, "amd64", MIRROR, Path("/b/root.tar")) == [
        "mmdebstrap",
        "--quiet",
        "--variant=extract",
        "--architectures=amd64",
        "--include=python3-minimal,libc-bin",
        "--dpkgopt=path-exclude=/usr/share/*",
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f"--extract-hook=install -D -m 0644 '{tmp_path}/a file' \"$1\"/usr/lib/x",
        "trixie",
        "/b/root.tar",
        MIRROR,
    ]


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(image.ImageError, match=r"names the file plugins/module_utils/cuda_probe\.py, which is not in"):
        image.recipe_key(RECIPE, tmp_path, "amd64", MIRROR)


def test_key_follows_recipe_files_architecture_and_mirror(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1")
    recipe = {**RECIPE, "files": [{"source": "f", "target": "/f"}]}
    keys = [image.recipe_key(recipe, tmp_path, "amd64", MIRROR)]
    assert image.recipe_key(dict(reversed(recipe.items())), tmp_path, "amd64", MIRROR) == keys[0]
    keys += [image.recipe_key({**recipe, "user": "0:0"}, tmp_path, "amd64", MIRROR), image.recipe_key(recipe, tmp_path, "arm64", MIRROR)]
    keys.append(image.recipe_key(recipe, tmp_path, "amd64", "http://other.example"))
    (tmp_path / "f").write_text("2")
    keys.append(image.recipe_key(recipe, tmp_path, "amd64", MIRROR))
    assert len(set(keys)) == len(keys)


def test_time_is_seconds_since_1970() -> None:
    assert image.epoch("2026-01-01T00:00:00Z") == "1767225600"
    with pytest.raises(image.ImageError, match='time is "yesterday"; write it as'):
        image.epoch("yesterday")


class Tools:
    """Stands in for mmdebstrap, runs the real umoci."""

    def __init__(self, fail_at: str = "") -> None:
        self.fail_at = fail_at
        self.epochs: list[str | None] = []

    def run(self, argv: Sequence[str], environment: Mapping[str, str]) -> str:
        if self.fail_at and self.fail_at in argv:
            raise image.ImageError(f"{self.fail_at} failed")
        if argv[0] == "mmdebstrap":
            self.epochs.append(environment.get("SOURCE_DATE_EPOCH"))
            tar = next(word for word in argv if word.endswith("root.tar"))
            subprocess.run(["tar", "-C", str(ROOT), "--mtime=@0", "--owner=0", "--group=0", "-cf", tar, "LICENSE"], check=True)
            return ""
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def built(layout: Path, tools: Tools) -> str:
    image.build(RECIPE, ROOT, "amd64", MIRROR, layout, tools.run)
    return image.manifest_digest(layout)


def test_two_builds_give_the_same_digest(tmp_path: Path) -> None:
    tools = Tools()
    assert built(tmp_path / "one", tools) == built(tmp_path / "two", tools)
    assert tools.epochs == ["1767225600", "1767225600"]


def test_image_runs_the_probe_unprivileged(tmp_path: Path) -> None:
    digest = built(tmp_path / "one", Tools())
    blobs = tmp_path / "one/blobs/sha256"
    manifest = json.loads((blobs / digest.removeprefix("sha256:")).read_text())
    config = json.loads((blobs / manifest["config"]["digest"].removeprefix("sha256:")).read_text())
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Entrypoint"] == ["/usr/bin/python3", "-I", "/usr/lib/goldnode/cuda_probe.py"]
    assert not any(setting.startswith("NVIDIA_VISIBLE_DEVICES") for setting in config["config"]["Env"])
    assert (config["created"], config["architecture"], config["os"]) == ("2026-01-01T00:00:00Z", "amd64", "linux")


def test_build_that_breaks_off_leaves_no_image_and_the_next_one_works(tmp_path: Path) -> None:
    with pytest.raises(image.ImageError):
        built(tmp_path / "one", Tools(fail_at="config"))
    assert not (tmp_path / "one").exists()
    assert built(tmp_path / "one", Tools()).startswith("sha256:")
    assert not (tmp_path / "one.partial").exists()


def test_registry_commands_trust_the_given_authority_only() -> None:
    layout, certificates = Path("/c/key"), Path("/t")
    assert image.push_argv(layout, "reg:5000/a", "t", certificates) == [
        "skopeo",
        "copy",
        "--quiet",
        "--preserve-digests",
        "--dest-cert-dir=/t",
        "oci:/c/key:image",
        "docker://reg:5000/a:t",
    ]
    assert image.inspect_argv("reg:5000/a@sha256:0", None) == ["skopeo", "inspect", "--raw", "docker://reg:5000/a@sha256:0"]
