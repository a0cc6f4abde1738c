"""What node_check makes of a node's answer."""

import json

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.goldnode.gpu.plugins.action.node_check import bundle_of, options

BUNDLE = {"schema": "goldnode.evidence/v1", "probes": {}}


def test_a_bundle_is_found_behind_a_login_banner():
    assert bundle_of({"rc": 0, "stdout": "Welcome!\n" + json.dumps(BUNDLE) + "\n"}, "python3") == BUNDLE


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"rc": 127, "stdout": "", "stderr": "sh: 1: /usr/bin/python3: not found"}, "Install python3 there, or set ansible_python_interpreter"),
        ({"rc": 0, "stdout": "hello\n", "stderr": ""}, "did not print an evidence bundle (rc 0): it said 'hello'"),
        ({"rc": 0, "stdout": '{"schema": "other/v1"}', "stderr": ""}, "did not print an evidence bundle"),
        ({"rc": 1, "stdout": "", "stderr": "Traceback\nMemoryError"}, "MemoryError"),
        ({"rc": 0, "stdout": "", "stderr": ""}, "it said 'nothing'"),
        ({"rc": 0, "stdout": "[1]", "stderr": ""}, "did not print an evidence bundle"),
    ],
)
def test_any_other_answer_fails_with_one_sentence(answer, sentence):
    with pytest.raises(AnsibleActionFail, match="node") as raised:
        bundle_of(answer, "/usr/bin/python3")
    assert sentence in str(raised.value)


def test_the_probe_gets_only_the_options_that_were_given():
    assert options({"layers": None, "nonce": None, "runs": None}) == []
    given = {"layers": ["driver", "engine"], "nonce": "5eed", "runs": [{"name": "x"}]}
    assert options(given) == ["--layers", "driver,engine", "--nonce", "5eed", "--runs", '[{"name": "x"}]']
