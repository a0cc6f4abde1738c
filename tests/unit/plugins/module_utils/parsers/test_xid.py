"""Xid and SXid lines in every wording, and what is none."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.xid import SXIDS, XIDS
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import xid
from hypothesis import given
from hypothesis import strategies as st

LINES = {
    "[ 9.1] NVRM: Xid (PCI:0000:01:00): 79, pid=1234, name=python3, GPU has fallen off the bus.": ("0000:01:00", 79, None),
    "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.": ("0000:01:00", 79, None),
    "NVRM: Xid (0000:03:00): 31, Ch 00000003, engmask 00000101, intr 10000000": ("0000:03:00", 31, None),
    "NVRM: Xid (PCI:0000:3B:00): 48": ("0000:3b:00", 48, None),
    "NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=7, Contained": ("0000:3b:00", 94, None),
    "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149": ("0000:dc:00", 45, 149),
    "I0101 health.go:159] XidCriticalError: Xid=48 on Device=GPU-aaaa; marking device as unhealthy.": ("gpu-aaaa", 48, None),
}


@pytest.mark.parametrize("line", LINES)
def test_an_xid_is_read(line):
    (event,) = xid.xids(f"something before\n{line}\nsomething after")
    assert (event.device, event.code, event.cause) == LINES[line]


def test_what_is_no_xid_is_none():
    assert xid.xids("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  510.108.03\nXid errors: 0\nXid 79 means that the GPU fell off the bus") == ()


def test_a_consequence_stands_for_its_cause():
    events = xid.xids("NVRM: Xid (PCI:0000:dc:00): 45, Ch 1 caused by previous Xid 149\nNVRM: Xid (PCI:0000:dc:00): 13, pid=1")
    assert [event.code for event in xid.roots(events)] == [149, 13]


def test_an_sxid_is_read():
    (event,) = xid.sxids("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28002, Non-fatal, Link 46 MC TS crumbstore MCTO\n")
    assert (event.device, event.code, event.text.split(",")[0]) == ("0000:c1:00.0", 28002, "Non-fatal")


@given(st.text())
def test_no_text_is_an_error(text):
    assert all(event.code < 1000 for event in xid.xids(text)) and xid.sxids(text) is not None


def test_the_catalogue_knows_the_codes_that_rules_name():
    assert {13, 31, 43, 45, 48, 54, 62, 63, 64, 74, 79, 92, 94, 95, 109, 119, 120, 140, 143, 145, 149, 154} <= set(XIDS)
    assert all(meaning and "Unused" not in meaning for meaning, _kind, _action in XIDS.values()) and SXIDS[20034][1] is True
