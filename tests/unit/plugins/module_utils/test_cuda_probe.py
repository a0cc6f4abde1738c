"""The CUDA probe against a small driver library of our own, compiled here: what it proves, and what it says when a step fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import cuda_probe
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[4]
PROBE = ROOT / "plugins/module_utils/cuda_probe.py"
SOURCE = ROOT / "tests/fixtures/libcuda/fake_libcuda.c"
NONCE = "00c0ffee5eed"
Report = dict[str, Any]


@pytest.fixture(scope="session")
def libcuda(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles the fake library with the given macros; returns its folder."""
    built: dict[tuple[str, ...], Path] = {}

    def build(*macros: str) -> Path:
        if macros not in built:
            built[macros] = folder = tmp_path_factory.mktemp("libcuda")
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", *(f"-D{m}" for m in macros), "-o", folder / "libcuda.so.1", SOURCE], check=True)
        return built[macros]

    return build


def run(folder: Path, *, python: str = sys.executable, nonce: str = NONCE, **fake: str) -> tuple[int, Report]:
    """Runs the probe as a program with the library in `folder`."""
    environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(folder), **fake}
    done = subprocess.run([python, "-I", str(PROBE), "--nonce", nonce], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1, done.stderr
    return done.returncode, json.loads(done.stdout)


def pythons() -> list[str]:
    """Every interpreter from 3.6 on that pyenv has here, and our own."""
    found = Path.home().glob(".pyenv/versions/3.*/bin/python3")
    return [sys.executable, *sorted(str(python) for python in found)]


@pytest.mark.parametrize("python", pythons())
def test_right_numbers_pass_on_every_python_here(libcuda: Callable[..., Path], python: str) -> None:
    folder = libcuda()
    rc, report = run(folder, python=python)
    assert rc == 0
    assert (report["ok"], report["step"], report["result"], report["result_name"]) == (True, None, 0, "CUDA_SUCCESS")
    assert (report["schema"], report["nonce"], report["driver_version"]) == ("goldnode.cuda_probe/v1", NONCE, 12040)
    assert report["library"] == str(folder / "libcuda.so.1")
    assert report["devices"] == [
        {
            "index": 0,
            "name": "Fake GPU 0",
            "uuid": "GPU-" + "-".join(["a0" * 4, "a0" * 2, "a0" * 2, "a0" * 2, "a0" * 6]),
            "pci": "0000:3A:00.0",
            "memory_bytes": 23 << 30,
            "compute_capability": "8.6",
            "checksum": cuda_probe.expected_checksum(NONCE),
            "expected": cuda_probe.expected_checksum(NONCE),
            "managed": True,
            "ok": True,
            "step": None,
            "result": 0,
            "result_name": "CUDA_SUCCESS",
            "detail": "",
        }
    ]


def test_driver_older_than_cuda_11_passes_by_the_first_names(libcuda: Callable[..., Path]) -> None:
    rc, report = run(libcuda("OLD"))
    assert rc == 0
    assert report["devices"][0]["uuid"].startswith("GPU-a0a0")


def test_mig_instance_gets_its_own_uuid(libcuda: Callable[..., Path]) -> None:
    _, report = run(libcuda(), FAKE_MIG="1")
    assert report["devices"][0]["uuid"].startswith("MIG-b0b0")


def test_stand_in_is_told_by_its_symbol(libcuda: Callable[..., Path]) -> None:
    assert run(libcuda("SIMULATED"))[1]["simulated"] is True
    assert run(libcuda())[1]["simulated"] is False


def test_device_without_managed_memory_passes_and_says_so(libcuda: Callable[..., Path]) -> None:
    rc, report = run(libcuda(), FAKE_UNMANAGED="1")
    assert (rc, report["devices"][0]["managed"]) == (0, False)


def test_every_device_is_proven(libcuda: Callable[..., Path]) -> None:
    rc, report = run(libcuda(), FAKE_DEVICES="3")
    assert rc == 0
    assert [device["pci"] for device in report["devices"]] == ["0000:3A:00.0", "0000:3B:00.0", "0000:3C:00.0"]


@pytest.mark.parametrize("step", list(cuda_probe.SIGNATURES))
def test_failing_step_is_named_with_its_result(libcuda: Callable[..., Path], step: str) -> None:
    rc, report = run(libcuda(), FAKE_FAIL=f"{step}:999")
    assert rc == 1
    assert (report["ok"], report["step"], report["result"], report["result_name"]) == (False, step, 999, "CUDA_ERROR_UNKNOWN")


def test_no_device_gives_100(libcuda: Callable[..., Path]) -> None:
    _, report = run(libcuda(), FAKE_FAIL="cuInit:100")
    assert (report["step"], report["result_name"], report["devices"]) == ("cuInit", "CUDA_ERROR_NO_DEVICE", [])


def test_zero_devices_is_not_a_success(libcuda: Callable[..., Path]) -> None:
    rc, report = run(libcuda(), FAKE_DEVICES="0")
    assert (rc, report["step"], report["detail"]) == (1, "cuDeviceGetCount", "the driver sees no device")


@pytest.mark.parametrize("macros", [(), ("NAMELESS",)])
def test_result_without_a_name_keeps_its_number(libcuda: Callable[..., Path], macros: tuple[str, ...]) -> None:
    _, report = run(libcuda(*macros), FAKE_FAIL="cuInit:4711")
    assert (report["result"], report["result_name"]) == (4711, None)


def test_one_wrong_number_of_all_fails(libcuda: Callable[..., Path]) -> None:
    rc, report = run(libcuda(), FAKE_WRONG="1")
    device = report["devices"][0]
    assert (rc, report["step"], report["result"]) == (1, "compare", 0)
    assert device["checksum"] != device["expected"] == cuda_probe.expected_checksum(NONCE)
    assert report["detail"].startswith("1 of 65537 elements differ, the first at 65536: 0x")


def test_kernel_that_does_not_run_fails(libcuda: Callable[..., Path]) -> None:
    rc, report = run(libcuda(), FAKE_IDLE="1")
    assert (rc, report["step"]) == (1, "compare")


def test_missing_library_is_a_report(tmp_path: Path) -> None:
    rc, report = run(tmp_path)
    assert (rc, report["step"], report["result"], report["devices"]) == (1, "load", None, [])
    assert "libcuda.so.1: cannot open shared object file" in report["detail"]


def test_library_without_a_symbol_is_a_report(tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int cuInit(unsigned flags) { return flags != 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    _, report = run(tmp_path)
    assert (report["step"], report["result"], report["detail"]) == ("cuDriverGetVersion", None, "libcuda.so.1 has no symbol cuDriverGetVersion")


@pytest.mark.parametrize("nonce", ["", "0x12", "-5", "xyz", "1_0", "٣"])
def test_nonce_that_is_no_hexadecimal_number_is_refused(nonce: str) -> None:
    done = subprocess.run([sys.executable, str(PROBE), f"--nonce={nonce}"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is not a hexadecimal number" in done.stderr
    assert "Traceback" not in done.stderr


@given(st.text("0123456789abcdef", min_size=1, max_size=40))
def test_input_depends_on_the_nonce_and_not_on_its_case(nonce: str) -> None:
    assert cuda_probe.input_for(nonce) == cuda_probe.input_for(nonce.upper())
    assert cuda_probe.input_for(nonce) != cuda_probe.input_for(nonce + "0")


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=50), st.integers(0, 2**32 - 1))
def test_mix_agrees_with_the_formula_word_by_word(words: list[int], nonce: int) -> None:
    data = b"".join(word.to_bytes(4, "little") for word in words)
    mixed = cuda_probe.mix(data, nonce)
    for index, word in enumerate(words):
        bits = f"{word ^ nonce:032b}"
        rotated = int(bits[7:] + bits[:7], 2)
        assert int.from_bytes(mixed[4 * index : 4 * index + 4], "little") == (rotated * 2654435761 + index) % 2**32


MAPS = """\
7f1c2a000000-7f1c2a200000 r--p 00000000 08:01 131 /usr/lib/x86_64-linux-gnu/libc.so.6
7f1c2b000000-7f1c2b200000 r--p 00000000 08:01 132                        /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01
7f1c2b200000-7f1c2b400000 r-xp 00200000 08:01 132                        /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01
7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0                          [stack]
"""


def test_library_path_is_the_file_behind_the_link() -> None:
    assert cuda_probe.mapped_path(MAPS) == "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01"
    assert cuda_probe.mapped_path("") is None
