"""engine_image against a docker client of our own that keeps its images in a file and writes down what it is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.goldnode.gpu.plugins.modules import engine_image

DIGEST = "sha256:" + "ab" * 32
IMAGE = f"registry.example:5000/goldnode/cuda-canary@{DIGEST}"
DOCKER = """\
#!/bin/sh
echo "$*" >> {folder}/asked
case "$1" in
image) grep -qxF "$5" {folder}/images ;;
pull) [ -e {folder}/registry ] || {{ echo "Error response from daemon: Get https://registry.example:5000/v2/: connection refused" >&2; exit 1; }}
      echo "$3" >> {folder}/images ;;
esac
"""


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder with the client, no image, and a registry that answers."""
    (tmp_path / "docker").write_text(DOCKER.format(folder=tmp_path))
    (tmp_path / "docker").chmod(0o755)
    (tmp_path / "images").touch()
    (tmp_path / "registry").touch()
    return tmp_path


@pytest.fixture
def run(node: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Runs the module; its result."""
    monkeypatch.setenv("PATH", f"{node}:{os.environ['PATH']}")

    def start(reference: str, check: bool = False) -> dict[str, Any]:
        with patch_module_args({"reference": reference, "_ansible_check_mode": check}), pytest.raises(SystemExit):
            engine_image.main()
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    return start


Run = Callable[..., dict[str, Any]]


def asked(node: Path) -> list[str]:
    return [line.split()[0] for line in (node / "asked").read_text().splitlines()]


def test_missing_image_is_pulled_once(node: Path, run: Run) -> None:
    assert run(IMAGE)["changed"] is True
    (node / "registry").unlink()
    again = run(IMAGE)
    assert (again["changed"], again["seconds"], again["reference"]) == (False, 0.0, IMAGE)
    assert asked(node) == ["image", "pull", "image"]


def test_tag_beside_the_digest_is_left_out(node: Path, run: Run) -> None:
    assert run(IMAGE.replace("@", ":1.0@"))["reference"] == IMAGE


def test_check_mode_pulls_nothing(node: Path, run: Run) -> None:
    assert run(IMAGE, check=True)["changed"] is True
    assert asked(node) == ["image"]


def test_registry_that_does_not_answer_is_one_sentence(node: Path, run: Run) -> None:
    (node / "registry").unlink()
    message = run(IMAGE)["msg"]
    assert message.startswith(f"Docker could not pull {IMAGE}: Error response from daemon: Get https://registry.example:5000/v2/: connection refused.")
    assert "/etc/docker/certs.d" in message


def test_tag_alone_is_refused(node: Path, run: Run) -> None:
    assert "is not named by digest; write name@sha256:<64 hex>" in run("registry.example/canary:latest")["msg"]
    assert not (node / "asked").exists()
