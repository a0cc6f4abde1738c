"""Public reports in excerpts, by layer: the rule that blames first, what its cause and remedy must say, and what nobody may be blamed for."""

from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL

FOLDER = Path(__file__).parents[4] / "fixtures/reports"
LAYERS = {path.stem: yaml.load(path.read_text(), yaml.CSafeLoader) for path in sorted(FOLDER.glob("*.yml"))}
BLAMED = [pytest.param(layer, report, id=f"{report['rule']}-{report['note'][:40]}") for layer, reports in LAYERS.items() for report in reports["blamed"]]
HARMLESS = [pytest.param(layer, report, id=f"{layer}-{report['note'][:40]}") for layer, reports in LAYERS.items() for report in reports["harmless"]]


def blamed(layer, report):
    """What fails in a layer, first one first."""
    evidence = {"schema": "goldnode.evidence/v1", **{key: report[key] for key in ("probes", "stated", "runs") if key in report}}
    return [finding for finding in judge(evidence, layers=(layer,)).findings if finding.verdict == FAIL]


@pytest.mark.parametrize(("layer", "report"), BLAMED)
def test_a_report_is_blamed_on_its_cause(layer, report):
    found = blamed(layer, report)
    assert found and found[0].rule == report["rule"], [(finding.rule, finding.cause) for finding in found]
    said = f"{found[0].cause} {found[0].remedy}".lower()
    assert [word for word in report["words"] if word.lower() not in said] == [], said


@pytest.mark.parametrize(("layer", "report"), HARMLESS)
def test_what_is_no_fault_of_the_layer_is_not_blamed(layer, report):
    assert [(finding.rule, finding.cause) for finding in blamed(layer, report)] == []
