"""The module's sentences behind every kind of prefix."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvrm
from hypothesis import given
from hypothesis import strategies as st

PREFIXES = {
    "dmesg": "[  263.729759] ",
    "dmesg -T": "[Mon Mar  6 21:34:31 2023] ",
    "journal": "Dec 02 11:49:53 worker4 kernel: ",
    "syslog": "2025-06-02T12:32:53.230422+00:00 9989af7-lcedt kernel: [  263.729759] ",
    "continued": "               ",
}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_sentence_over_lines_is_joined(prefix):
    lines = ("NVRM: API mismatch: the client has the version 470.129.06, but", "NVRM: this kernel module has the version 470.103.01.  Please")
    words = nvrm.sentences("\n".join(PREFIXES[prefix] + line for line in lines))
    assert words.startswith("API mismatch: the client has the version 470.129.06, but this kernel module")
    assert nvrm.mismatch(words) == ("470.129.06", "470.103.01")


def test_who_was_refused_may_be_named():
    words = "API mismatch: the client 'nvidia-smi' (pid 2217) has the version 535.129.03, but this kernel module has the version 535.113.01."
    assert nvrm.mismatch(words) == ("535.129.03", "535.113.01")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("loading NVIDIA UNIX x86_64 Kernel Module  510.108.03  Thu Oct 20 05:10:45 UTC 2022", ("510.108.03", "proprietary")),
        ("loading NVIDIA UNIX Open Kernel Module for x86_64  575.51.03  Release Build", ("575.51.03", "open")),
        ("loading NVIDIA UNIX aarch64 Kernel Module  545.29.02", ("545.29.02", "proprietary")),
        ("nothing of that kind", None),
    ],
)
def test_the_loaded_module_is_read(line, expected):
    assert nvrm.loaded(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GPU 0000:0a:00.0: RmInitAdapter failed! (0x24:0x72:1568)", ("0000:0a:00.0", 0x72, "0x24:0x72:1568")),
        ("RmInitAdapter failed! (0x26:0xffff:1375)", (None, 0xFFFF, "0x26:0xffff:1375")),
    ],
)
def test_an_adapter_failure_is_read(line, expected):
    assert nvrm.adapter_failures(line) == (expected,)


@given(st.text())
def test_no_text_is_an_error(text):
    words = nvrm.sentences(text)
    assert nvrm.adapter_failures(words) is not None and (nvrm.mismatch(words), nvrm.loaded(words)) is not None
