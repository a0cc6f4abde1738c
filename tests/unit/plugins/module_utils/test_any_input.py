"""Any evidence at all: no parser, no rule and no judgement stumbles, and what is garbled never becomes a pass."""

import copy
import importlib
import inspect
import json
import pkgutil
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils import parsers
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import PASS
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import NOT_UNDERSTOOD
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import STUMBLED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parents[3]
FIXTURES = TESTS / "fixtures/evidence"
LAB = json.loads((FIXTURES / "lab_canary.evidence.json").read_text())
LOCK = yaml.load((FIXTURES / "lab_canary.lock.yml").read_text(), yaml.CSafeLoader)
CASES = [{"probes": {}, **yaml.load(path.read_text(), yaml.CSafeLoader)} for path in sorted((TESTS / "cases").glob("*.evidence.yml"))]
BUNDLES = [LAB, *CASES]


def texts_of(evidence):
    """Every text that a tool printed, with where it stands."""
    for name, value in evidence["probes"].items():
        if isinstance(value, str):
            yield (name,), value
        elif isinstance(value, dict):
            yield from (((name, key), text) for key, text in value.items() if isinstance(text, str))


TEXTS = sorted({text for evidence in BUNDLES for _place, text in texts_of(evidence)})


def put(evidence, place, text):
    """The bundle with another text in that place."""
    changed = copy.deepcopy(evidence)
    if len(place) == 1:
        changed["probes"][place[0]] = text
    else:
        changed["probes"][place[0]][place[1]] = text
    return changed


def mangled(text):
    """What becomes of a text: cut anywhere, its lines shuffled, letters of other kinds in it, bytes for text, repeated, or another tool's text."""
    lines = text.splitlines(keepends=True)
    return st.one_of(
        st.integers(0, len(text)).map(lambda at: text[:at]),
        st.integers(0, len(text)).map(lambda at: text[at:]),
        st.permutations(lines).map("".join) if len(lines) < 200 else st.just("".join(reversed(lines))),
        st.tuples(st.integers(0, len(text)), st.text(max_size=5)).map(lambda it: text[: it[0]] + it[1] + text[it[0] :]),
        st.binary(max_size=80).map(lambda data: data.decode("utf-8", "replace")),
        st.text(max_size=80),
        st.sampled_from([text * 3, text.upper(), text.encode().decode("utf-16", "replace"), "", "\n", "\x00" * 50, "[" * 2000, "{" * 50, "9" * 5000]),
        st.sampled_from(TEXTS),
    )


def public_parsers():
    """Every function of the parsers that takes texts and nothing else."""
    for module in pkgutil.walk_packages(parsers.__path__, parsers.__name__ + "."):
        for name, function in vars(importlib.import_module(module.name)).items():
            if inspect.isfunction(function) and function.__module__ == module.name and not name.startswith("_"):
                kinds = [parameter.annotation for parameter in inspect.signature(function).parameters.values() if parameter.default is parameter.empty]
                if kinds and set(kinds) <= {"str", "str | None"} and "pattern" not in inspect.signature(function).parameters:
                    yield function


PARSERS = {f"{function.__module__.rpartition('.')[2]}.{function.__name__}": function for function in public_parsers()}


def test_the_parsers_are_found():
    assert {"linux.lsmod", "linux.packages", "nvidia.gpus", "docker.info"} & set(PARSERS)
    assert len(PARSERS) > 20


@pytest.mark.parametrize("name", sorted(PARSERS))
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_parser_answers_or_does_not_understand(name, data):
    """What a parser may raise is what makes its fact unknown, and nothing else."""
    arguments = [data.draw(st.sampled_from(TEXTS).flatmap(mangled)) for _ in inspect.signature(PARSERS[name]).parameters]
    try:
        PARSERS[name](*arguments)
    except NOT_UNDERSTOOD:
        return


def stumbled(judgement):
    return [(found.rule, found.observed) for found in judgement.findings if found.observed.startswith(STUMBLED)]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_rule_stumbles_over_mangled_texts(data):
    evidence = data.draw(st.sampled_from(BUNDLES))
    for place, text in data.draw(st.lists(st.sampled_from(list(texts_of(evidence)) or [(("dmesg",), "")]), min_size=1, max_size=3)):
        evidence = put(evidence, place, data.draw(mangled(text)))
    assert stumbled(judge(evidence, data.draw(st.sampled_from([None, LOCK])))) == []


KEYS = st.sampled_from(["stdout", "rc", "content", "devices", "complete", "error", "/x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
RUN_KEYS = ("stdout", "stderr", "rc", "error", "request", "engine", "payload", "devices", "command", "image", "user", "nonce", "path", "note")
RUN = st.fixed_dictionaries({}, optional=dict.fromkeys(RUN_KEYS, VALUES))


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_rule_stumbles_over_values_of_other_types(data):
    evidence = copy.deepcopy(data.draw(st.sampled_from(BUNDLES)))
    names = sorted(evidence["probes"])
    for name in data.draw(st.lists(st.sampled_from(names), max_size=3)) if names else []:
        evidence["probes"][name] = data.draw(VALUES)
    evidence["runs"] = data.draw(st.just(evidence.get("runs") or []) | st.lists(RUN, max_size=3))
    assert stumbled(judge(evidence, data.draw(st.sampled_from([None, LOCK])))) == []


@settings(deadline=None, max_examples=100)
@given(stated=st.dictionaries(st.sampled_from([name for name in dir(Facts) if not name.startswith("_")]), VALUES, max_size=4))
def test_a_stated_value_of_another_type_ends_no_judgement(stated):
    assert judge({**LAB, "stated": stated}, LOCK).verdict
    json.dumps(judge({**LAB, "stated": stated}).as_dict())


GARBAGE = ["\x00\x01\ufffd" * 40, "\ufffd" * 200, "qx zk wv " * 30, "%PDF-1.4 obj << >> stream\n" * 5, ""]


# What a person copied out of kubectl for a report: no probe carries it, and any of its words may be a pod's own.
BY_HAND = ("pod_", "device_plugin_")


@pytest.mark.parametrize("garbage", GARBAGE, ids=["binary", "letters lost", "words", "another file", "empty"])
def test_garbled_evidence_never_turns_a_verdict_into_a_pass(garbage):
    """What became unreadable is worth no more than what nobody looked at."""
    wrong = []
    for number, evidence in enumerate(CASES):
        before = judge(evidence)
        for place in (place for place, _text in texts_of(evidence) if not place[0].startswith(BY_HAND)):
            after = judge(put(evidence, place, garbage))
            unseen = passing({**evidence, "probes": {name: form for name, form in evidence["probes"].items() if name != place[0]}}, None)
            wrong += [(number, place, layer) for layer in passing_layers(after) - unseen if before.layers[layer].verdict != PASS]
            assert after.verdict != PASS
    assert wrong == []


# The package's version speaks too.
KNOWN_OTHERWISE = {"nvidia_ctk_version"}


@pytest.mark.parametrize("garbage", GARBAGE[:4], ids=["binary", "letters lost", "words", "another file"])
@pytest.mark.parametrize("name", sorted(name for name, form in LAB["probes"].items() if isinstance(form, dict) and "absent" not in form))
def test_a_layer_does_not_pass_on_a_garbled_answer(name, garbage):
    """On a node where all passes, in the form in which the probe gives it: a layer passes on it only if it would pass without it."""
    garbled = {key: garbage if isinstance(text, str) and text else text for key, text in LAB["probes"][name].items()}
    others = {probe: form for probe, form in LAB["probes"].items() if probe != name}
    better = passing({**LAB, "probes": {**others, name: garbled}}, LOCK) - passing({**LAB, "probes": others}, LOCK)
    assert better == set() or name in KNOWN_OTHERWISE


def passing(evidence, lock):
    """The layers that pass."""
    return passing_layers(judge(evidence, lock))


def passing_layers(judgement):
    return {name for name, layer in judgement.layers.items() if layer.verdict == PASS}
