"""What node_check makes of a node's answer."""

import json

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.goldnode.gpu.plugins.action.node_check import LIMIT_CHARACTERS, bundle_of, deadline, options

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


def test_what_a_node_says_instead_of_a_bundle_is_shown_without_its_secrets():
    with pytest.raises(AnsibleActionFail) as raised:
        bundle_of({"rc": 1, "stdout": "", "stderr": "x" * 1000 + " https://user:S3cr3t@mirror.example failed"}, "python3")
    assert "S3cr3t" not in str(raised.value)
    assert "@mirror.example failed" in str(raised.value)


def test_a_secret_that_begins_before_what_is_shown_is_cut_all_the_same():
    with pytest.raises(AnsibleActionFail) as raised:
        bundle_of({"rc": 1, "stdout": "", "stderr": "TOKEN=" + "S3cr3t" * 100}, "python3")
    assert "S3cr3t" not in str(raised.value)


def test_an_answer_without_end_is_refused_unread():
    with pytest.raises(AnsibleActionFail, match="expected an evidence bundle of at most"):
        bundle_of({"rc": 0, "stdout": json.dumps(BUNDLE) + " " * LIMIT_CHARACTERS + "\n" + json.dumps(BUNDLE)}, "python3")


def test_the_tasks_timeout_holds_on_the_node_too():
    assert deadline(300) == ["timeout", "--kill-after=5", "300"]
    assert deadline(0) == []
