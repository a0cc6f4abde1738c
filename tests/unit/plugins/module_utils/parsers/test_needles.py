"""A search that first looks for the words that a match needs finds what a plain search finds."""

import re

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("Driver/library", {"driver/library"}),
        (r"NVRM: (?:API mismatch|GPU .* fallen)\b", {"api mismatch", " fallen"}),
        (r"NVML: (?:a|bc)", {"nvml: "}),
        (r"(?P<x>ab)?c+d", {"c"}),
        (r"(?:abc)*x?", set()),
        (r"[ab]\d", set()),
        (r"(?:one|)two|", set()),
        (r"(?!never)here", {"here"}),
    ],
)
def test_the_words_that_a_match_needs(pattern, words):
    assert needles.prepare(pattern).words == words


@given(
    pattern=st.sampled_from([r"a(b|cd)+e?", r"(?:ab|b)c", r"x*ab", r"a.c|dd", r"A[bc]D", r"(?:a|)b", r"(a)\1b", r"(?<=a)bc", r"^ab$|c{2,}"]),
    text=st.text(alphabet="abcdeABCDE\n", max_size=12),
)
def test_the_same_is_found(pattern, text):
    plain, quick = re.search(pattern, text, re.IGNORECASE), needles.search(pattern, text)
    assert (plain and plain.span()) == (quick and quick.span())
