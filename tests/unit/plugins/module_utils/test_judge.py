"""The judge: order of layers, blocking, unknown, rungs."""

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils import judge as judging
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import ALL, judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, LAYERS, NOT_APPLICABLE, PASS, UNKNOWN
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import Bundle
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import STUMBLED, Outcome, Rule
from hypothesis import given, settings
from hypothesis import strategies as st

VERDICTS = st.sampled_from([PASS, FAIL, UNKNOWN, NOT_APPLICABLE])
EVIDENCE = Path(__file__).parents[3] / "fixtures/evidence"
CASES = sorted((Path(__file__).parents[3] / "cases").glob("*.evidence.yml"))
GOOD = {kind: yaml.load((EVIDENCE / f"good_a10.{kind}.yml").read_text(), yaml.CSafeLoader) for kind in ("evidence", "lock")}
BARE = {"schema": "goldnode.evidence/v1", "probes": {}}


def needs(layer):
    return {*LAYERS[layer], *(far for near in LAYERS[layer] for far in needs(near))}


def rules_saying(verdicts):
    """A registry in which each rule gives the verdict that it is told."""
    return {
        f"{layer}.r{number}": Rule(f"{layer}.r{number}", layer, lambda _f, _w, v=verdict: Outcome(v), (), (), "error", "", "", "", "", "", "")
        for layer, said in verdicts.items()
        for number, verdict in enumerate(said)
    }


@pytest.fixture
def judged(monkeypatch):
    def call(verdicts):
        monkeypatch.setattr(judging, "RULES", rules_saying(verdicts))
        return judge(BARE)

    return call


SAID = st.fixed_dictionaries({layer: st.lists(VERDICTS, max_size=3) for layer in ALL})


@given(said=SAID)
def test_the_first_broken_layer_needs_no_layer_that_fails(said):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "RULES", rules_saying(said))
        result = judge(BARE)
    broken = [layer for layer in ALL if result.layers[layer].verdict == FAIL]
    expected = [layer for layer in ALL if FAIL in said[layer] and not any(FAIL in said[need] for need in needs(layer))]
    assert broken == expected
    assert result.first_broken_layer == (expected[0] if expected else None)


@given(said=SAID)
def test_what_needs_a_broken_layer_is_unknown_and_blocked_and_never_one_more_failure(said):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "RULES", rules_saying(said))
        result = judge(BARE)
    for layer in ALL:
        blockers = [need for need in ALL if need in needs(layer) and result.layers[need].verdict == FAIL]
        if blockers:
            assert (result.layers[layer].verdict, result.layers[layer].blocked_by) == (UNKNOWN, blockers[0])
            assert not [one for one in result.findings if one.layer == layer and one.verdict == FAIL]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ([PASS, FAIL, UNKNOWN], FAIL),
        ([PASS, UNKNOWN], UNKNOWN),
        ([PASS, NOT_APPLICABLE], PASS),
        ([NOT_APPLICABLE], NOT_APPLICABLE),
        ([], UNKNOWN),
    ],
)
def test_a_layer_is_as_bad_as_its_worst_finding(said, verdict, judged):
    assert judged({"hardware": said}).layers["hardware"].verdict == verdict


def test_an_unknown_need_stops_nothing(judged):
    result = judged({"hardware": [UNKNOWN], "kernel": [NOT_APPLICABLE], "driver": [FAIL]})
    assert result.first_broken_layer == "driver"


def test_a_node_without_evidence_never_passes():
    result = judge(BARE)
    assert result.verdict == UNKNOWN
    assert PASS not in {layer.verdict for layer in result.layers.values()}


def outcomes(evidence):
    """What each rule says by itself, whatever layer is broken."""
    facts, wanted = Facts(evidence), Wanted(GOOD["lock"])
    return {name: rule.judge(facts, wanted).verdict for name, rule in RULES.items()}


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_taking_evidence_away_never_makes_a_rule_pass(data):
    evidence = copy.deepcopy(GOOD["evidence"])
    broken = data.draw(st.sampled_from(sorted(evidence["probes"])))
    evidence["probes"][broken] = data.draw(st.sampled_from([{"error": "killed"}, {"absent": True}, "", {"stdout": "", "rc": 1}]))
    before = outcomes(evidence)
    del evidence["probes"][data.draw(st.sampled_from(sorted(evidence["probes"])))]
    assert [name for name, verdict in outcomes(evidence).items() if verdict == PASS and before[name] in (UNKNOWN, FAIL)] == []


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_no_text_of_a_tool_makes_the_judge_stumble(data):
    evidence = copy.deepcopy(GOOD["evidence"])
    for name in data.draw(st.lists(st.sampled_from(sorted(evidence["probes"])), min_size=1, max_size=4)):
        evidence["probes"][name] = data.draw(FORMS)
    assert judge(evidence, GOOD["lock"]).verdict in (FAIL, UNKNOWN, PASS)


WORDS = st.lists(
    st.one_of(
        st.text(max_size=8), st.sampled_from(["{", "}", "[10de:2236]", "nvidia", "version", ":", "\n", "550.163.01", "crw-rw-rw- 1 0 0 195, 0 x /dev/nvidia0"])
    )
).map(" ".join)
FORMS = st.one_of(
    WORDS,
    st.none(),
    st.integers(),
    st.fixed_dictionaries(
        {}, optional={"stdout": WORDS, "content": st.one_of(WORDS, st.none()), "stderr": WORDS, "rc": st.integers(), "complete": st.booleans()}
    ),
    st.dictionaries(st.sampled_from(["/etc/cdi/a", "x"]), WORDS),
)


@pytest.mark.parametrize(
    "text", ["{}", "[]", "null", '{"Server": null}', '{"devices": null}', '{"schema": "goldnode.cuda_probe/v1", "ok": false, "devices": [{}]}']
)
@pytest.mark.parametrize("name", ["docker_version", "docker_info", "docker_daemon_json", "cuda_probe"])
def test_json_of_another_shape_is_unknown_or_fails_but_never_stumbles(name, text, evidence, lock):
    evidence["probes"][name] = {"stdout": text, "rc": 0}
    assert judge(evidence, lock).verdict in (FAIL, UNKNOWN)


def test_a_bundle_from_a_file_is_judged_like_the_live_one(evidence, lock, tmp_path):
    live = judge(evidence, lock)
    evidence["rung"] = live.rung
    path = tmp_path / "node.evidence.json"
    path.write_text(json.dumps(evidence))
    assert judge(json.loads(path.read_text()), lock) == live
    path.write_text(yaml.safe_dump(evidence))
    assert judge(yaml.safe_load(path.read_text()), lock) == live


def test_one_layer_alone_is_judged_without_its_needs(evidence, lock):
    evidence["probes"]["kernel_release"] = "6.1.0-wrong"
    assert judge(evidence, lock, layers=("engine",)).verdict == PASS
    assert list(judge(evidence, lock, layers=("engine",)).layers) == ["engine"]


def test_the_spec_is_blocked_by_a_broken_driver_and_the_toolkits_packages_are_not(evidence, lock):
    evidence["probes"]["proc_driver_nvidia_version"] = {"content": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.1.1"}
    result = judge(evidence, lock)
    assert result.first_broken_layer == "driver"
    assert result.layers["container_toolkit"].verdict == PASS
    assert {one.verdict for one in result.findings if one.rule.startswith("container_toolkit.cdi_")} == {UNKNOWN}


def real_node(evidence):
    """The good node as a real one would show it: default roots and a libcuda without the stand-in's symbol."""
    evidence["roots"] = {"procfs": "/proc", "sysfs": "/sys", "kernel_log": None}
    gpus = evidence["probes"]["proc_driver_nvidia_gpus"]
    evidence["probes"]["proc_driver_nvidia_gpus"] = {path.replace("/run/goldnode-lab/proc", "/proc"): text for path, text in gpus.items()}
    answer = evidence["probes"]["cuda_probe"]
    answer["stdout"] = answer["stdout"].replace('"simulated": true', '"simulated": false')
    return evidence


def test_a_real_gpu_with_the_right_answer_is_on_the_rung_hardware(evidence):
    assert judge(real_node(evidence)).rung == "hardware"


def answers(old, new):
    """Another answer of the CUDA probe."""

    def change(evidence):
        assert old in evidence["probes"]["cuda_probe"]["stdout"]
        evidence["probes"]["cuda_probe"]["stdout"] = evidence["probes"]["cuda_probe"]["stdout"].replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "rung"),
    [
        (lambda e: e["roots"].update(procfs="/run/goldnode-lab/proc"), "simulated"),
        (lambda e: e["roots"].update(kernel_log="/tmp/kernel.log"), "simulated"),
        (answers('"simulated": false', '"simulated": true'), "simulated"),
        (answers('"simulated": false,', ""), "booted"),
        (answers('"checksum": "aa"', '"checksum": "ab"'), "booted"),
        (answers("0000:65", "0000:66"), "booted"),
        (lambda e: e.update(nonce="0ther"), "booted"),
        (lambda e: e["probes"].pop("cuda_probe"), "booted"),
        (lambda e: e["probes"].update(proc_driver_nvidia_gpus={"absent": True}), "booted"),
        (lambda e: e.update(rung="captured"), "captured"),
        (lambda e: e.update(rung="golden"), "captured"),
        (lambda e: e.pop("roots"), "captured"),
        (lambda e: e.pop("probe_version"), "captured"),
    ],
)
def test_each_missing_proof_lowers_the_rung(change, rung, evidence):
    change(real_node(evidence))
    assert judge(evidence).rung == rung


def test_a_claim_in_the_bundle_never_raises_the_rung(evidence):
    evidence["rung"] = "hardware"
    assert judge(evidence).rung == "simulated"


def test_a_bundle_from_a_lab_node_on_its_release_passes_in_every_layer():
    """Captured by validate_nodes from a lab node (Docker 26.1.5, stand-in driver 580.159.03), containers by CDI and --gpus included."""
    captured = json.loads((EVIDENCE / "lab_canary.evidence.json").read_text())
    result = judge(captured, yaml.load((EVIDENCE / "lab_canary.lock.yml").read_text(), yaml.CSafeLoader))
    assert {layer: judged.verdict for layer, judged in result.layers.items()} == {**dict.fromkeys(ALL, PASS), "orchestrator": NOT_APPLICABLE}
    assert (result.verdict, result.first_broken_layer, result.rung) == (PASS, None, "simulated")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name[:3])
def test_a_rule_that_is_not_run_would_have_said_the_same(path):
    evidence = yaml.load(path.read_text(), yaml.CSafeLoader)
    facts, wanted = Facts(evidence), Wanted(None)
    passed_over = [rule for rule in RULES.values() if rule.silence.asked.isdisjoint(facts.bundle.holds)]
    assert passed_over
    assert [rule.id for rule in passed_over if rule.finding(facts, wanted) != rule.silence.finding] == []


def test_what_looks_at_all_names_or_at_the_runs_is_always_run():
    def lists_names(facts, _wanted):
        return Outcome(PASS if list(facts.bundle.probes) else UNKNOWN)

    def counts_runs(facts, _wanted):
        return Outcome(PASS if facts.runs else UNKNOWN)

    for rule in (one_rule(lists_names), one_rule(counts_runs)):
        assert not rule.silence.asked.isdisjoint(Facts({"probes": {"odd": "x"}, "runs": [{}]}).bundle.holds)
        assert rule.silence.finding.verdict == UNKNOWN


def one_rule(function):
    return Rule("driver.one", "driver", function, (), (), "error", "", "", "its cause", "its fix", "", "")


def test_a_rule_that_fails_itself_is_unknown_and_says_so(monkeypatch):
    monkeypatch.setattr(judging, "RULES", {"driver.one": one_rule(lambda facts, wanted: 1 / 0)})
    result = judge({**BARE, "probes": {"dmesg": "x"}})
    assert result.verdict == UNKNOWN
    assert result.findings[0].observed.startswith(f"{STUMBLED} (ZeroDivisionError")


def test_the_surest_failure_of_the_first_broken_layer_is_blamed(monkeypatch):
    said = [Outcome(FAIL, cause="maybe", confidence="medium"), Outcome(UNKNOWN), Outcome(FAIL, cause="sure"), Outcome(FAIL, cause="also sure")]
    rules = {f"driver.r{number}": replace(one_rule(lambda _f, _w, o=outcome: o), id=f"driver.r{number}") for number, outcome in enumerate(said)}
    monkeypatch.setattr(judging, "RULES", rules)
    assert judge(BARE).blamed.cause == "sure"
    assert judge({**BARE, "probes": {}}, layers=("engine",)).blamed is None


def test_judging_again_compiles_no_pattern(monkeypatch):
    """re keeps 512 patterns; with more than that in turn each would be compiled for every bundle."""
    cases = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in CASES]
    # the oldest goes first, also one that is still used: what other tests left would push ours out
    re.purge()
    for evidence in cases:
        judge(evidence)
    compiled = []
    compiler = re._compiler.compile
    monkeypatch.setattr(re._compiler, "compile", lambda pattern, flags: compiled.append(pattern) or compiler(pattern, flags))
    for evidence in cases:
        judge(evidence)
    assert compiled == []


def test_each_text_is_looked_through_once():
    bundle = Bundle({"probes": {"journal": {"content": "x"}}})
    assert bundle.text("journal") is bundle.text("journal")
    assert bundle._texts == {"journal": "x"}


@pytest.mark.parametrize("value", ["\x00\x01\x02\x00", "\ufffd" * 9, b"x", 5, ["x"], {"stdout": "\x00" * 9}, {"stdout": 5}, {"content": {}}])
def test_what_nobody_could_read_is_no_text(value):
    assert Bundle({"probes": {"dmesg": value}}).text("dmesg") is None


@pytest.mark.parametrize("odd", [None, 5, "text", ["x"], [[]], {"a": 1}])
@pytest.mark.parametrize("key", ["probes", "stated", "runs", "roots", "rung", "nonce", "probe_version"])
def test_a_bundle_of_another_shape_never_stumbles(key, odd, evidence, lock):
    evidence[key] = odd
    assert judge(evidence, lock).verdict in (FAIL, UNKNOWN, PASS)
