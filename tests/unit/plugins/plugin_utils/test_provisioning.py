import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.provisioning import outcome_of, release_of, report
from hypothesis import given
from hypothesis import strategies as st

CANDIDATE, STABLE = {"release": "sha256:c"}, {"release": "sha256:5"}


def node(**changed):
    row = {"node": "n", "channel": "candidate", "release": "sha256:" + "1" * 64, "how": "re-created"}
    row |= {"verdict": "pass", "first_broken_layer": None, "findings": [], "message": ""}
    return {**row, **changed}


@pytest.mark.parametrize(
    ("channel", "channels", "expected"),
    [
        ("candidate", {"candidate": CANDIDATE, "stable": STABLE}, CANDIDATE),
        ("candidate", {"candidate": None, "stable": STABLE}, STABLE),
        ("candidate", {"candidate": None, "stable": None}, None),
        ("stable", {"candidate": CANDIDATE, "stable": STABLE}, STABLE),
        ("stable", {"candidate": CANDIDATE, "stable": None}, None),
    ],
)
def test_a_node_gets_its_channels_release_and_a_canary_stands_on_stable_without_candidate(channel, channels, expected):
    assert release_of(channel, channels) == expected


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, "pass"),
        ({"verdict": "fail", "first_broken_layer": "driver"}, "fail"),
        ({"verdict": "unknown"}, "inconclusive"),
        ({"verdict": None}, "inconclusive"),
        ({"verdict": "not_applicable"}, "inconclusive"),
        ({"verdict": None, "message": "no space left"}, "fail"),
        ({"release": None, "verdict": None, "how": "-"}, "blocked"),
    ],
)
def test_only_a_judged_pass_is_a_pass(changed, outcome):
    assert outcome_of(node(**changed)) == outcome


@given(st.lists(st.sampled_from(["pass", "fail", "unknown", None]), max_size=5))
def test_a_run_passes_only_if_there_are_nodes_and_all_of_them_pass(verdicts):
    made = report("p", [node(verdict=verdict) for verdict in verdicts])
    assert (made["outcome"] == "pass") == (bool(verdicts) and set(verdicts) == {"pass"})
    assert (made["outcome"] == "fail") == ("fail" in verdicts)


def test_the_report_is_a_table_with_aligned_columns_and_one_closing_line():
    made = report("p", [node(node="lab-a10-canary-1"), node(verdict="fail", first_broken_layer="driver")])
    assert made["lines"] == [
        "node              channel    release  how         validated  first broken layer",
        "lab-a10-canary-1  candidate  1111111  re-created  pass       -",
        "n                 candidate  1111111  re-created  fail       driver",
        "1 of 2 nodes are on their release and validated",
    ]


def test_an_empty_channel_is_one_sentence_however_many_nodes_point_to_it():
    empty = {"release": None, "verdict": None, "channel": "stable", "how": "-"}
    made = report("p", [node(), node(**empty), node(**empty)])
    assert made["outcome"] == "blocked"
    assert made["lines"][4:] == [
        "channel stable of p is empty, its nodes were left as they are; fill it: ansible-playbook goldnode.gpu.promote_image -e pool=p",
        "1 of 3 nodes are on their release and validated",
    ]


def test_a_nodes_error_stands_under_the_table_with_its_name():
    made = report("p", [node(node="x", verdict=None, message="unreachable; bring it back")])
    assert "x: unreachable; bring it back" in made["lines"]


def test_a_failing_node_says_the_cause_of_its_first_broken_layer():
    def finding(layer, verdict, cause):
        return {"rule": f"{layer}.x", "layer": layer, "verdict": verdict, "cause": cause}

    findings = [finding("driver", "pass", ""), finding("driver", "fail", "it does not load"), finding("engine", "fail", "it is down")]
    made = report("p", [node(node="x", verdict="fail", first_broken_layer="driver", findings=findings)])
    assert "x: driver.x: it does not load" in made["lines"]
    assert made["nodes"][0]["message"] == "driver.x: it does not load"
    assert "findings" not in made["nodes"][0]
