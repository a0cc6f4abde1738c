"""container_image as a task: the real umoci, skopeo and registry over TLS; only the unpacking of Debian packages is replaced."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args
from ansible_collections.goldnode.gpu.plugins.modules import container_image

ROOT = Path(__file__).parents[4]
# Stands in for mmdebstrap: the tar is its last word but one.
MMDEBSTRAP = '#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\ncd {root} && tar --mtime=@0 --owner=0 --group=0 -cf "$1" LICENSE\n'


@dataclass
class Bench:
    """A registry on this machine, and a cache of its own."""

    folder: Path
    registry: str
    run: Callable[..., dict[str, Any]]


def result_of(given: dict[str, Any], check: bool, path: str) -> dict[str, Any]:
    """Runs the module with `path` before the PATH; its result."""
    printed = io.StringIO()
    with patch_module_args({**given, "_ansible_check_mode": check}), pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setenv("PATH", f"{path}:{os.environ['PATH']}")
        with pytest.raises(SystemExit):
            container_image.main()
    result: dict[str, Any] = json.loads(printed.getvalue())
    return result


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"no registry on port {port} after 20 s")


def run_module(folder: Path, port: int, check: bool = False, **changed: Any) -> dict[str, Any]:
    """The result of the module, with the bench's parameters where the test gives no others."""
    given = {
        "recipe": yaml.safe_load((ROOT / "canary/recipe.yml").read_text()),
        "source_dir": str(ROOT),
        "registry": f"127.0.0.1:{port}",
        "repository": "goldnode/cuda-canary",
        "ca_file": str(folder / "ca.pem"),
        "mirror": "http://mirror.example/debian",
        "cache_dir": str(folder / "cache"),
    }
    return result_of({**given, **changed}, check, str(folder))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder, port = tmp_path_factory.mktemp("bench"), free_port()
    (folder / "mmdebstrap").write_text(MMDEBSTRAP.format(root=ROOT))
    (folder / "mmdebstrap").chmod(0o755)
    key, certificate = folder / "key.pem", folder / "ca.pem"
    subject = ["-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1"]
    request = ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", *subject, "-keyout", key, "-out", certificate]
    subprocess.run(request, check=True, capture_output=True)
    http = {"addr": f"127.0.0.1:{port}", "tls": {"certificate": str(certificate), "key": str(key)}}
    storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
    (folder / "registry.json").write_text(json.dumps({"version": 0.1, "log": {"level": "error"}, "storage": storage, "http": http}))
    server = subprocess.Popen(["docker-registry", "serve", folder / "registry.json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield Bench(folder, f"127.0.0.1:{port}", partial(run_module, folder, port))
    finally:
        server.kill()
        server.wait()


def test_image_is_built_and_pushed_once(bench: Bench) -> None:
    before = bench.run(check=True)
    assert (before["changed"], before["reference"]) == (True, None)
    first, second = bench.run(), bench.run()
    assert (first["changed"], first["built"]) == (True, True)
    assert (second["changed"], second["built"], second["reference"]) == (False, False, first["reference"])
    assert first["reference"] == f"{bench.registry}/goldnode/cuda-canary@{first['digest']}"


def test_build_from_nothing_has_the_digest_that_the_registry_knows(bench: Bench) -> None:
    first = bench.run()
    again = bench.run(cache_dir=str(bench.folder / "other"))
    assert (again["built"], again["changed"], again["digest"]) == (True, False, first["digest"])


def test_registry_of_an_unknown_authority_is_refused(bench: Bench) -> None:
    assert "certificate" in bench.run(ca_file="")["msg"]


def test_registry_that_does_not_answer_is_named(bench: Bench) -> None:
    answer = bench.run(registry=f"127.0.0.1:{free_port()}")
    assert "connection refused" in answer["msg"]
    assert "Traceback" not in answer["msg"]


def test_file_that_the_recipe_misses_is_named(bench: Bench) -> None:
    assert "which is not in /nowhere" in bench.run(source_dir="/nowhere")["msg"]
