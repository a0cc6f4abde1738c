"""Our order of versions against RPM itself."""

import subprocess

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.rpm_versions import evr, satisfies, split
from hypothesis import given, settings
from hypothesis import strategies as st

# `~` before the end, `^` after it; numbers after letters; leading zeros and separators count for nothing
RISING = [
    "0~",
    "0",
    "1.0~rc1~git1",
    "1.0~rc1",
    "1.0~rc2",
    "1.0",
    "1.0^",
    "1.0^git1~pre",
    "1.0^git1",
    "1.0^git2",
    "1.0a",
    "1.0aa",
    "1.0.1",
    "1.9",
    "1.10",
    "5.14.0-427.el9",
    "5.14.0-427.22.1.el9_4",
    "5.14.0-503.el9_5",
    "5.14.0-503.11.1.el9_5",
    "580.65.06-1.el9",
    "580.159.03-1.el9",
    "580.159.03-1.el9_6",
    "1:0.1",
    "3:570.211.01-1.el9",
    "3:580.65.06-1.el9",
    "10:1",
]


def test_versions_rise_as_rpm_says():
    assert [(one, other) for one, other in zip(RISING, RISING[1:]) if not evr(one) < evr(other)] == []


@pytest.mark.parametrize(("one", "other"), [("1.01", "1.1"), ("2_0", "2.0"), ("0:1", "1"), ("00:1", "1"), ("1.", "1"), ("+a", "_a"), ("1.0-", "1.0")])
def test_what_rpm_takes_for_equal_is_equal(one, other):
    assert evr(one) == evr(other)


@settings(max_examples=4, deadline=None)
@given(pairs=st.lists(st.tuples(*[st.text("019ab.~^_+", min_size=1, max_size=8)] * 2), min_size=100, max_size=300))
def test_two_versions_stand_as_rpm_itself_says(pairs):
    calls = "\n".join(f'print(rpm.vercmp("{one}", "{other}") .. "\\n")' for one, other in pairs)
    said = subprocess.run(["rpm", "--eval", f"%{{lua:{calls}}}"], capture_output=True, text=True, check=True).stdout.split()
    assert [(evr(one) > evr(other)) - (evr(one) < evr(other)) for one, other in pairs] == [int(number) for number in said]


def test_a_number_may_have_more_digits_than_python_converts():
    assert evr("9" * 5000) < evr("1" + "0" * 5000)


def test_a_version_is_split_as_rpm_writes_it():
    assert split("3:580.159.03-1.el9") == ("3", "580.159.03", "1.el9")
    assert split("580.159.03") == ("", "580.159.03", "")


@pytest.mark.parametrize(
    ("version", "operator", "bound", "holds"),
    [
        ("3:580.159.03-1.el9", "=", "3:580.159.03", True),
        ("3:580.159.03-1.el9", "=", "580.159.03", False),
        ("3:580.159.03-1.el9", ">=", "580.159.03", True),
        ("1.19.1-1", ">>", "1.19.1", False),
        ("1.19.1-1", ">>", "1.19.1-0", True),
        ("1.19.1-1", "<=", "1.19.1", True),
        ("1.19.1-1", "<<", "1.20", True),
        ("", ">=", "7", True),
    ],
)
def test_a_bound_without_release_means_every_release(version, operator, bound, holds):
    assert satisfies(version, operator, bound) is holds
