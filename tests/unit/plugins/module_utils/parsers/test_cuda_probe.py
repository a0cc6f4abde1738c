"""The CUDA probe's line, whatever stands around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import cuda_probe
from hypothesis import given
from hypothesis import strategies as st

DEVICE = {"index": 0, "name": "NVIDIA A10", "uuid": "GPU-1", "pci": "0000:3A:00.0", "memory_bytes": 1, "compute_capability": "8.6", "ok": True, "step": None}
LINE: dict[str, Any] = {
    "schema": "goldnode.cuda_probe/v1",
    "nonce": "ab12",
    "simulated": False,
    "library": "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01",
    "driver_version": 12040,
    "ok": True,
    "step": None,
    "result": 0,
    "result_name": "CUDA_SUCCESS",
    "detail": "",
    "devices": [{**DEVICE, "result": 0, "result_name": "CUDA_SUCCESS", "checksum": "c", "expected": "c", "managed": True, "detail": ""}],
}


def test_report_is_read_from_the_last_line_that_is_one() -> None:
    old = json.dumps({**LINE, "nonce": "01"})
    report = cuda_probe.report(f"a line of the engine\n{old}\n{json.dumps(LINE)}\nanother\n")
    assert report is not None
    assert (report.nonce, report.end.ok, report.uuids, report.devices[0].pci) == ("ab12", True, frozenset({"GPU-1"}), "0000:3a:00.0")


@pytest.mark.parametrize(
    ("library", "release"),
    [
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01", "550.163.01"),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", None),
        ("/usr/local/cuda/compat/libcuda.so.575.57.08", "575.57.08"),
        (None, None),
    ],
)
def test_library_release_is_in_the_files_name(library: str | None, release: str | None) -> None:
    report = cuda_probe.report(json.dumps({**LINE, "library": library}))
    assert report is not None and report.library_release == release


@pytest.mark.parametrize("changed", [{"nonce": "not hex"}, {"nonce": None}, {"devices": None}, {"devices": [3]}, {"schema": "goldnode.other/v1"}])
def test_line_of_another_shape_is_no_report(changed: dict[str, Any]) -> None:
    assert cuda_probe.report(json.dumps({**LINE, **changed})) is None


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (cuda_probe.End(True, None, 0, "CUDA_SUCCESS", ""), "ok"),
        (cuda_probe.End(False, "cuInit", 100, "CUDA_ERROR_NO_DEVICE", ""), "cuInit: 100 CUDA_ERROR_NO_DEVICE"),
        (cuda_probe.End(False, "cuInit", 4711, None, ""), "cuInit: 4711"),
        (cuda_probe.End(False, "load", None, None, "libcuda.so.1: cannot open"), "load: libcuda.so.1: cannot open"),
        (cuda_probe.End(False, "compare", 0, "CUDA_SUCCESS", "1 of 65537 elements differ"), "compare: 1 of 65537 elements differ"),
    ],
)
def test_end_says_the_step_and_what_came_of_it(end: cuda_probe.End, words: str) -> None:
    assert str(end) == words


@pytest.mark.parametrize(
    ("printed", "address"), [("0000:3A:00.0", "0000:3a:00.0"), ("00000000:3A:00.0", "0000:3a:00.0"), ("0000:01:00.0", "0000:01:00.0"), (None, None)]
)
def test_pci_address_is_sysfs_form(printed: str | None, address: str | None) -> None:
    assert cuda_probe.pci(printed) == address


@given(st.text())
def test_any_text_gives_a_report_or_none(text: str) -> None:
    assert cuda_probe.report(text) is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(list(LINE)), inner)))
def test_any_json_gives_a_report_or_none(value: Any) -> None:
    text = json.dumps({**LINE, "devices": value, "nonce": value})
    assert cuda_probe.report(text) is None
