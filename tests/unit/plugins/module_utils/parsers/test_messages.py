"""What tools said, in lines that every pattern can bear."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import LONGEST_LINE, folded
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts


@pytest.mark.parametrize("text", ["", "short", "one\n\ntwo\n", "a" * (LONGEST_LINE - 1), "\n" * (LONGEST_LINE + 5)])
def test_a_text_of_bearable_lines_stays_as_it_is(text):
    assert folded(text) == text


def test_a_long_line_is_folded_and_loses_nothing():
    text = "first\n" + "x" * (2 * LONGEST_LINE + 1) + "\nlast"
    assert [len(line) for line in folded(text).split("\n")] == [5, LONGEST_LINE, LONGEST_LINE, 1, 4]
    assert folded(text).replace("\n", "") == text.replace("\n", "")


def test_a_complaint_after_a_long_line_is_heard():
    run = {"engine": "docker", "rc": 1, "stderr": "x" * 200_000 + "\nnvidia-smi: command not found"}
    message, match = Facts({"runs": [run]}).said(r"nvidia-smi[^\n]*not found")
    assert (message.source, match.group()) == ("run 1", "nvidia-smi: command not found")
