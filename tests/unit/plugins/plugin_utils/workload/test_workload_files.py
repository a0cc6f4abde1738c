"""What cannot be read gets one sentence, and other files are still judged."""

import json

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.documents import LIMIT_BYTES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.lint import lint, page, write_result
from hypothesis import given, settings
from hypothesis import strategies as st

MISSING = "services:\n  app:\n    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n"
BAD = {
    "not_yaml.yml": (b"services: [\n", "not YAML: "),
    "template.yaml": (b"image: {{ .Values.image }}\n{{- if .Values.gpu }}\n", "a template that was not rendered"),
    "quoted_template.yaml": (b'apiVersion: v1\nkind: Pod\nx: "{{ .Values.image }}"\n', "a template that was not rendered"),
    "latin.yml": (b"image: caf\xe9\n", "not UTF-8 text (byte 10)"),
    "large.json": (b" " * (LIMIT_BYTES + 1), "more than the 8 MiB"),
    "control.yml": (b"image: \x00\n", "not YAML: "),
    "deep.json": (b"[" * 100_000, ""),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence_and_the_others_are_judged(tmp_path, name):
    content, reason = BAD[name]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "compose.yml").write_text(MISSING)
    result = lint(tmp_path)
    (one,) = result["unreadable"]
    assert one["file"] == name
    assert reason in one["reason"]
    assert "\n" not in one["reason"]
    assert [found["rule"] for found in result["findings"] if found["severity"] == "error"] == ["workload.request_missing"]


def test_a_bad_file_alone_is_inconclusive(tmp_path):
    (tmp_path / "x.yml").write_bytes(b"a: [")
    assert lint(tmp_path)["outcome"] == "inconclusive"


def test_an_empty_directory_is_inconclusive(tmp_path):
    result = lint(tmp_path)
    assert (result["outcome"], result["unreadable"][0]["reason"]) == ("inconclusive", "no file that ends in .yml, .yaml, .json")


def test_a_file_of_another_kind_is_no_workload(tmp_path):
    (tmp_path / "values.yml").write_text("image: nvidia/cuda\n")
    assert "neither a Compose file" in lint(tmp_path / "values.yml")["unreadable"][0]["reason"]


def test_documents_of_one_file_and_hidden_files(tmp_path):
    (tmp_path / "all.yml").write_text(f"---\n{MISSING}---\n- a list\n---\napiVersion: v1\nkind: ConfigMap\ndata: {{}}\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden/compose.yml").write_text(MISSING)
    result = lint(tmp_path)
    assert (result["files"], len(result["gpu_workloads"]), result["unreadable"]) == (1, 1, [])


def test_aliases_are_followed_once(tmp_path):
    bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12))
    (tmp_path / "bomb.yml").write_text(f"apiVersion: v1\nkind: X\n{bomb}")
    assert lint(tmp_path)["outcome"] == "pass"


def test_the_page_says_cause_remedy_and_page_of_each_finding(tmp_path):
    (tmp_path / "compose.yml").write_text(MISSING)
    (tmp_path / "bad.yml").write_text("a: [")
    result = lint(tmp_path)
    text = "\n".join(write_result(result, tmp_path / "report"))
    for words in (
        "compose.yml app · workload.request_missing (error)",
        "  cause     It needs a GPU",
        "docs/rules/workload.request_missing.md",
        "bad.yml: not YAML",
    ):
        assert words in text
    assert text.splitlines()[-1].startswith("fail: 1 GPU workloads, 1 errors, 1 warnings, 1 files not judged")
    assert json.loads((tmp_path / "report/result.json").read_text()) == result
    assert (tmp_path / "report/page.txt").read_text() == text + "\n"


def test_a_page_without_workloads(tmp_path):
    (tmp_path / "compose.yml").write_text("services: {web: {image: nginx}}\n")
    assert page(lint(tmp_path), tmp_path)[0] == "no workload that uses a GPU"


SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8)
KEYS = ("image", "command", "environment", "deploy", "devices", "gpus", "volumes", "shm_size", "ipc", "tmpfs", "runtime", "privileged")
POD_KEYS = ("image", "command", "args", "env", "resources", "volumeMounts", "securityContext", "name")


@settings(deadline=None, max_examples=150)
@given(service=st.dictionaries(st.sampled_from(KEYS), VALUE), container=st.dictionaries(st.sampled_from(POD_KEYS), VALUE), spec=VALUE)
def test_no_shape_of_a_file_ends_in_an_error(tmp_path_factory, service, container, spec):
    place = tmp_path_factory.mktemp("files")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": spec, "spec": {"containers": [container, spec], "volumes": spec}}
    (place / "a.json").write_text(json.dumps({"services": {"app": service}}))
    (place / "b.json").write_text(json.dumps(pod))
    page(lint(place), place)
