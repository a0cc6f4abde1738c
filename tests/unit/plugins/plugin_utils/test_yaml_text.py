"""YAML that nobody's tool wrote: each tool says what it cannot read, and reads all the rest."""

import json
import os

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils import bundles, diagnosis
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.lint import lint, page
from ansible_collections.goldnode.gpu.plugins.plugin_utils.yaml_text import LIMIT_EVENTS, TextLoader, refuse_endless
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ODD = [
    "!!bool maybe",
    '!!int ""',
    '!!int "-"',
    '!!float ""',
    "!!timestamp foo",
    "0x" + "f" * 6000,
    "9" * 6000,
    "!!python/object:os.system x",
    "&a [*a]",
    ".nan",
    "-.inf",
]
GOOD = "schema: goldnode.evidence/v1\nprobes: {lsmod: ''}\n"
COMPOSE = "services:\n  web: {image: 'nvidia/cuda:12.8.0-base', gpus: all}\n"


@pytest.mark.parametrize("scalar", ODD)
@pytest.mark.parametrize("place", ["x: {}\n", "? {}\n: x\n", "probes: {{? {} : x}}\n", "stated: {{a: {}}}\n"])
def test_an_odd_scalar_costs_its_own_bundle_at_most(scalar, place, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "good.evidence.yml").write_text(GOOD)
    (source / "odd.evidence.yml").write_text("schema: goldnode.evidence/v1\n" + place.format(scalar))
    result = diagnosis.diagnose(source, tmp_path, None, "2026-12-01T00:00:00Z")
    assert result["cases"]["good"]["state"] == "judged"
    assert result["cases"]["odd"]["state"] in ("judged", "not judged")
    assert json.loads(json.dumps(result)) == result
    assert diagnosis.write_page(result, tmp_path, tmp_path / "report")


@pytest.mark.parametrize("scalar", ODD)
@pytest.mark.parametrize("place", ["services: {{a: {{image: x, gpus: all, shm_size: {}}}}}\n", "services: {{? {} : {{image: x}}}}\n", "x: {}\n"])
def test_an_odd_scalar_costs_its_own_workload_file_at_most(scalar, place, tmp_path):
    (tmp_path / "good.yml").write_text(COMPOSE)
    (tmp_path / "odd.yml").write_text(place.format(scalar))
    result = lint(tmp_path)
    assert "web" in {one["name"] for one in result["gpu_workloads"]}
    assert json.loads(json.dumps(result))["files"] >= 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused_in_a_sentence(text, tmp_path):
    path = tmp_path / "a.evidence.yml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        bundles.read(path)
    except bundles.UnreadableError as error:
        assert "\n" not in str(error)
    assert isinstance(lint(path)["unreadable"], list)


def test_a_text_of_too_many_values_is_refused_before_it_is_built():
    with pytest.raises(ValueError, match="more than 1,000,000 values"):
        refuse_endless("- a\n" * (LIMIT_EVENTS + 10))
    refuse_endless("log: |\n" + "  [    1.0] a line\n" * 500_000)


def test_keys_that_stand_twice_are_told():
    loader = TextLoader("a: {b: 1, b: 2}\n")
    assert loader.get_single_data() == {"a": {"b": 2}}
    assert loader.twice == ["b, line 1"]


def test_a_bundle_with_a_key_twice_is_judged_and_says_so(tmp_path):
    path = tmp_path / "a.evidence.yml"
    path.write_text(GOOD + "probes: {}\n")
    assert "key probes, line 1, stands twice: the last one was read" in bundles.read(path).notes


def test_a_compose_file_with_a_service_twice_is_refused_as_compose_does(tmp_path):
    (tmp_path / "compose.yml").write_text("services:\n  a: {image: x, gpus: all}\n  a: {image: busybox}\n")
    [one] = lint(tmp_path)["unreadable"]
    assert one["reason"] == "the key a, line 2, stands twice in one mapping"


def test_merge_keys_may_stand_as_often_as_compose_allows(tmp_path):
    (tmp_path / "compose.yml").write_text("x-a: &a {image: nvidia/cuda:1}\nservices:\n  web: {<<: *a, gpus: all}\n")
    assert lint(tmp_path)["unreadable"] == [] and lint(tmp_path)["gpu_workloads"]


def test_a_fifo_is_no_workload(tmp_path):
    os.mkfifo(tmp_path / "compose.yml")
    assert lint(tmp_path / "compose.yml")["unreadable"][0]["reason"] == "not a regular file"


def test_containers_that_are_no_list_are_not_judged(tmp_path):
    (tmp_path / "pod.yml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: {name: x, image: nvidia/cuda:1}}\n")
    result = lint(tmp_path)
    assert result["outcome"] == "inconclusive"
    assert result["unreadable"][0]["reason"] == "the containers of Pod/a are no list, which the API server refuses"


def test_the_page_of_a_workload_forges_no_line_and_holds_no_secret(tmp_path):
    environment = '{NVIDIA_DRIVER_CAPABILITIES: "http://u:hunter2@x\\nfail: FORGED"}'
    (tmp_path / "a.yml").write_text(
        f'services: {{"a\\e[2J\\nb": {{image: "https://user:hunter2@reg.example/nvidia/cuda:1", gpus: all, environment: {environment}}}}}\n'
    )
    result = lint(tmp_path)
    lines = page(result, tmp_path)
    assert "hunter2" not in json.dumps(result) + "".join(lines)
    assert not [line for line in lines if line.startswith("fail: FORGED") or "\x1b" in line or "\n" in line]


def test_a_stem_that_no_file_can_have_costs_its_own_bundle(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for stem in ("good", "x" * 242, "new\nline"):
        (source / f"{stem}.evidence.yml").write_text(GOOD)
    (source / "taken.evidence.yml").write_text(GOOD)
    (target / "taken.diagnosis.json").mkdir(parents=True)
    cases = diagnosis.diagnose(source, target, None, "2026-12-01T00:00:00Z")["cases"]
    assert {stem[:8]: case["state"] for stem, case in cases.items()} == {"good": "judged", "new\nline": "judged", "taken": "not judged", "x" * 8: "not judged"}
    assert [path.name for path in target.iterdir() if path.name.endswith(".new")] == []


def test_the_runs_result_keeps_what_tells_and_points_to_the_whole(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.evidence.yml").write_text(GOOD)
    case = diagnosis.diagnose(source, tmp_path, None, "2026-12-01T00:00:00Z")["cases"]["a"]
    assert case["diagnosis"] == "a.diagnosis.json" and all(one["verdict"] == "fail" for one in case["findings"])
    assert len(json.loads((tmp_path / "a.diagnosis.json").read_text())["findings"]) > 150
