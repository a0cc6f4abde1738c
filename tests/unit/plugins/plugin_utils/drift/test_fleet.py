import json

from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.compare import Difference, Drift
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.fleet import METRICS, node_part, of_bundles, unseen_part, write_result
from prometheus_client.parser import text_string_to_metric_families

MOVED = Difference("package_version", "runc", "1.1.15-1", "1.3.2-1", "/usr/bin/unattended-upgrade, 2026-11-28 06:12:13")
GOLDEN, DRIFTED = node_part(Drift((), ()), "sha256:" + "7" * 64), node_part(Drift((MOVED,) * 10, ()), None)


def test_a_fleet_is_a_table_with_the_differences_below(tmp_path):
    result, lines = write_result("lab_a10", {"n1": GOLDEN, "n2": DRIFTED, "n3": unseen_part("unreachable:\n no route")}, tmp_path)
    assert result["count"] == {"drifted": 1, "unknown": 1, "golden": 1} and result["outcome"] == "fail"
    assert [line.split() for line in lines[2:6]] == [
        ["node", "release", "state", "differences"],
        ["n1", "7777777", "golden", "-"],
        ["n2", "none", "drifted", "package_version", "10"],
        ["n3", "none", "unknown", "-"],
    ]
    assert "  package_version  runc: 1.3.2-1 instead of 1.1.15-1 · moved by /usr/bin/unattended-upgrade, 2026-11-28 06:12:13" in lines
    assert "  and 2 more" in lines and "  not seen         unreachable: no route" in lines
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_a_fleet_passes_only_if_all_are_golden(tmp_path):
    assert write_result("p", {"n1": GOLDEN}, tmp_path)[0]["outcome"] == "pass"
    assert write_result("p", {"n1": GOLDEN, "n2": unseen_part("x")}, tmp_path)[0]["outcome"] == "inconclusive"
    assert write_result("p", {}, tmp_path)[0]["outcome"] == "inconclusive"


def test_the_metrics_are_prometheus_text(tmp_path):
    write_result("lab_a10", {"n1": GOLDEN, 'n"2': DRIFTED}, tmp_path)
    families = {family.name: family for family in text_string_to_metric_families((tmp_path / METRICS).read_text())}
    values = {(one.labels["node"], one.labels["kind"]): one.value for one in families["goldnode_drift_differences"].samples}
    assert values == {('n"2', "package_version"): 10}
    assert {one.labels["state"] for one in families["goldnode_drift_state"].samples if one.value} == {"golden", "drifted"}


def test_two_bundles_of_one_node_are_not_chosen_from(tmp_path):
    for end in ("yml", "json"):
        (tmp_path / f"n1.evidence.{end}").write_text("{}")
    part = of_bundles(tmp_path, {"packages": []})["n1"]
    assert (part["state"], part["unseen"]) == ("unknown", ["n1.evidence.json and n1.evidence.yml are bundles of one node; leave the one that is meant"])
