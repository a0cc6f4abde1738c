"""Bundles in files, whoever wrote them."""

import json

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils import bundles
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError, find, known_probes, read
from hypothesis import given, settings
from hypothesis import strategies as st

HEAD = "schema: goldnode.evidence/v1\n"


def written(folder, text, name="a.evidence.yml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def bomb(levels, merge=False):
    """Each level stands for nine of the one before."""
    lines = ["m0: &m0 {k: v}"]
    for level in range(1, levels):
        many = ", ".join([f"*m{level - 1}"] * 9)
        lines.append(f"m{level}: &m{level} {{<<: [{many}]}}" if merge else f"m{level}: &m{level} [{many}]")
    return HEAD + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "it is not YAML: did not find expected node content at line 2"),
        ("a: *b", "it is not YAML: found undefined alias"),
        ("when: !!python/object/apply:os.system [ls]", "it is not YAML: could not determine a constructor"),
        ("a: " + "[" * 5000, "nest"),
        (HEAD + "a: " + "[" * 990 + "]" * 990, "nested too deeply"),
        ("", "it is empty; expected a mapping with schema goldnode.evidence/v1"),
        ("- a", "it is a list; expected a mapping"),
        ("just words", "it is text; expected a mapping"),
        ("probes: {}", "its schema is missing; expected goldnode.evidence/v1"),
        ("schema: goldnode.evidence/v9", "its schema is goldnode.evidence/v9; expected goldnode.evidence/v1"),
        ("schema: [1]", "its schema is missing"),
        (HEAD + "probes: [a]", "its probes are a list; expected a mapping"),
        (HEAD + "stated: 3", "its stated are a number; expected a mapping"),
        (HEAD + "runs: {}", "its runs are a mapping; expected a list"),
        (bomb(30), "its aliases stand for more than 512 MiB"),
        (bomb(30, merge=True), "its aliases stand for more than 512 MiB"),
        (HEAD + "probes: &p {dmesg: *p}", "its aliases stand for more than 512 MiB"),
    ],
)
def test_what_is_no_bundle_is_refused_with_one_sentence(text, sentence, tmp_path):
    with pytest.raises(UnreadableError) as raised:
        read(written(tmp_path, text))
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "it is not JSON: Expecting property name"),
        ("[" * 100000, "nested too deeply"),
        (HEAD, "it is not JSON"),
        ("", "it is not JSON"),
        ("[1]", "a list"),
    ],
)
def test_what_is_no_json_is_refused_with_one_sentence(text, sentence, tmp_path):
    with pytest.raises(UnreadableError, match="it is") as raised:
        read(written(tmp_path, text, "a.evidence.json"))
    assert sentence in str(raised.value)


def test_what_is_no_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "d.evidence.yml").mkdir()
    with pytest.raises(UnreadableError, match="not a regular file"):
        read(tmp_path / "d.evidence.yml")
    with pytest.raises(UnreadableError, match="it cannot be read: No such file"):
        read(tmp_path / "gone.evidence.yml")
    monkeypatch.setattr(bundles, "LIMIT_BYTES", 10)
    with pytest.raises(UnreadableError, match="at most 0 MiB are read"):
        read(written(tmp_path, HEAD))


def test_bundles_of_a_directory_are_found_by_their_names(tmp_path):
    for name in ("a.evidence.yml", "b.evidence.json", "b.evidence.yaml", "c.truth.yml", "evidence.yml"):
        written(tmp_path, "", name)
    assert {stem: [path.name for path in paths] for stem, paths in find(tmp_path).items()} == {
        "a": ["a.evidence.yml"],
        "b": ["b.evidence.json", "b.evidence.yaml"],
    }
    assert list(find(tmp_path / "a.evidence.yml")) == ["a"]
    assert list(find(tmp_path / "evidence.yml")) == ["evidence"]
    with pytest.raises(UnreadableError, match="does not exist"):
        find(tmp_path / "gone")


def test_a_text_that_is_too_long_keeps_its_beginning_and_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "LIMIT_TEXT", 1000)
    log = "".join(f"[{number:5}.0] line\n" for number in range(1000))
    bundle = {"schema": "goldnode.evidence/v1", "probes": {"dmesg": {"content": log, "complete": True}, "lsmod": log}, "runs": [{"stdout": log, "rc": 0}, 5]}
    found = read(written(tmp_path, json.dumps(bundle), "a.evidence.json"))
    form = found.evidence["probes"]["dmesg"]
    assert (form["complete"], form["truncated"], len(form["content"]) <= 1000) == (False, True, True)
    lines = form["content"].splitlines()
    assert (lines[0], lines[-1]) == ("[    0.0] line", "[  999.0] line")
    assert all(line in log.splitlines() for line in lines)
    assert len(found.evidence["probes"]["lsmod"]) <= 1000
    assert found.evidence["runs"][0]["truncated"] is True
    assert [note.split(" has ")[0] for note in found.notes] == ["dmesg", "lsmod", "run 1"]


def test_letters_that_are_no_utf_8_cost_no_bundle(tmp_path):
    found = read(written(tmp_path, HEAD.encode() + b"probes:\n  dmesg: 'caf\xe9 \x1b[0m'\n"))
    assert found.evidence["probes"]["dmesg"] == "caf\ufffd \ufffd[0m"
    assert found.notes == ("it is not UTF-8: 1 characters could not be read",)


def test_what_a_windows_shell_redirects_is_read(tmp_path):
    assert read(written(tmp_path, HEAD.encode("utf-16"))).evidence["probes"] == {}
    assert read(written(tmp_path, b"\xef\xbb\xbf" + HEAD.encode())).notes == ()


def test_json_under_a_yaml_name_and_dates_are_read_as_written(tmp_path):
    assert read(written(tmp_path, '{"schema": "goldnode.evidence/v1"}')).evidence["runs"] == []
    assert read(written(tmp_path, HEAD + "captured_at: 2026-11-30T21:04:10Z\n")).evidence["captured_at"] == "2026-11-30T21:04:10Z"


def test_probes_of_wrong_types_are_named_and_the_bundle_is_judged(tmp_path):
    found = read(written(tmp_path, HEAD + "probes:\n  dmesg: [a]\n  uname_r: 6.12\n  lsmod: {stdout: {}, rc: 0}\n  5: x\n"))
    assert found.notes == (
        "probe dmesg is a list; expected text or a mapping",
        "probe uname_r is a number; expected text or a mapping",
        "stdout of probe lsmod is a mapping; expected text",
    )
    assert judge(found.evidence).verdict == "unknown"


def test_every_name_that_the_documentation_and_the_rules_use_is_known():
    assert {"dmesg", "uname_r", "pod_events", "cuda_probe", "app_log"} <= known_probes()


KEYS = st.sampled_from(["schema", "probes", "stdout", "dmesg", "runs", "lsmod", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


DATA = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: (HEAD + text).encode("utf-8", "replace")),
    JSON.map(lambda value: json.dumps(value).encode()),
)


@settings(deadline=None, max_examples=150)
@given(
    data=st.one_of(
        st.binary(max_size=60),
        st.text(max_size=60).map(lambda text: (HEAD + text).encode("utf-8", "replace")),
        JSON.map(lambda value: json.dumps(value).encode()),
    )
)
@pytest.mark.parametrize("name", ["a.evidence.yml", "a.evidence.json"])
def test_any_file_is_a_bundle_or_refused(name, data, tmp_path_factory):
    path = written(tmp_path_factory.mktemp("any"), data, name)
    try:
        assert judge(read(path).evidence).verdict != "pass"
    except UnreadableError as error:
        assert len(str(error).splitlines()) == 1
