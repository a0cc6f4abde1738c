"""The record of what was configured, and what the probe says of the files since."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import configuration, probe
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES


@pytest.fixture
def node(tmp_path, monkeypatch):
    """A folder with two configured files and their record, as provisioning leaves them."""
    files = {"sources.list.d/a.sources": "Types: deb\n", "daemon.json": "{}\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    digests = configuration.digests(tmp_path, tuple(files))
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"schema": configuration.RECORD_SCHEMA, "files": {f"{tmp_path}{path}": digest for path, digest in digests.items()}}))
    monkeypatch.setattr(probe, "CONFIGURATION_RECORD", str(record))
    monkeypatch.setattr(probe, "MANIFEST", str(tmp_path / "manifest.json"))
    return tmp_path


def edits(folder: Path):
    seen = probe.configuration(SimpleNamespace())
    found = Facts({"probes": {"configuration": seen}}).configured_files
    return None if found is None else {path.replace(f"{folder}/", ""): since for path, since in found.items() if since != "same"}


def test_probe_and_modules_agree_on_the_record():
    assert probe.CONFIGURATION_RECORD == configuration.RECORD


def test_untouched_files_are_no_edits(node):
    assert edits(node) == {}


def test_edited_removed_and_added_files_are_told_apart(node):
    (node / "daemon.json").write_text('{"debug": true}\n')
    (node / "sources.list.d/a.sources").unlink()
    (node / "sources.list.d/b.list").write_text("deb x\n")
    assert edits(node) == {"daemon.json": "edited", "sources.list.d/a.sources": "removed", "sources.list.d/b.list": "added"}


def test_a_file_beside_a_recorded_one_counts_only_in_a_drop_in_folder(node):
    (node / "key.json").write_text("{}")
    assert edits(node) == {}


def test_without_a_record_the_images_manifest_holds(node):
    record = json.loads(Path(probe.CONFIGURATION_RECORD).read_text())
    Path(probe.CONFIGURATION_RECORD).unlink()
    Path(probe.MANIFEST).write_text(json.dumps({"configuration": record["files"]}))
    (node / "daemon.json").write_text("x")
    assert edits(node) == {"daemon.json": "edited"}


def test_without_both_nothing_is_known(node):
    Path(probe.CONFIGURATION_RECORD).unlink()
    assert probe.configuration(SimpleNamespace()) == {"absent": True}
    assert edits(node) is None


def test_an_edit_that_a_later_layer_explains_is_not_blamed_on_the_toolkit():
    path = "/etc/nvidia-container-runtime/config.toml"
    evidence = {"probes": {"configuration": {path: "sha256:a sha256:b"}}, "stated": {"no_cgroups": True}}
    said = RULES["container_toolkit.configuration_is_provisioned"].finding(Facts(evidence), Wanted({"pins": {"container_toolkit": {"version": "1.19.1"}}}))
    assert said.verdict == "unknown"
