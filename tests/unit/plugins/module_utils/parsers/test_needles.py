"""A search that first looks for the words that a match needs finds what a plain search finds."""

import re

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("pattern", "alternatives"),
    [
        ("Driver/library", {("driver/library",)}),
        (r"NVRM: (?:API mismatch|GPU .* fallen)\b", {("api mismatch", "nvrm: "), (" fallen", "nvrm: ", "gpu ")}),
        (r"nvidia-smi[^\n]*(?:timed out|missing)|unknown", {("nvidia-smi", "timed out"), ("nvidia-smi", "missing"), ("unknown",)}),
        (r"NVML: (?:a|bc)", {("nvml: ",), ("nvml: ", "bc")}),
        ("x(?:" + "|".join(letter * 2 for letter in "abcdefghijklmnopqrst") + ")", {(letter * 2,) for letter in "abcdefghijklmnopqrst"}),
        (r"(?P<x>ab)?c+d", {("c", "d")}),
        (r"(?:abc)*x?", {()}),
        (r"[ab]\d", {()}),
        (r"(?:one|)two|", {(), ("two",), ("one", "two")}),
        (r"(?!never)here", {("here",)}),
    ],
)
def test_the_words_that_a_match_needs(pattern, alternatives):
    assert set(needles.prepare(pattern).alternatives) == alternatives


@given(
    pattern=st.sampled_from(
        [r"a(b|cd)+e?", r"(?:ab|b)c", r"x*ab", r"a.c|dd", r"A[bc]D", r"(?:a|)b", r"(a)\1b", r"(?<=a)bc", r"^ab$|c{2,}", r"ab[^\n]*(?:cd|e)|b(?:d|ca)a"]
    ),
    text=st.text(alphabet="abcdeABCDE\n", max_size=12),
)
def test_the_same_is_found(pattern, text):
    plain, quick = re.search(pattern, text, re.IGNORECASE), needles.search(pattern, text)
    assert (plain and plain.span()) == (quick and quick.span())


def test_the_lines_that_have_a_pattern():
    assert needles.lines(r"error \d", "Error 1\nno error\nan ERROR 22") == ["Error 1", "an ERROR 22"]
