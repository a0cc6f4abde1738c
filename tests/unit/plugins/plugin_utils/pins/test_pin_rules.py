"""The rules as a whole: words, pages, examples; and what each notes without refusing."""

from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import PIN_RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.pages import every, main, pages

from tests.unit.plugins.plugin_utils.pins.sets import companions, gpus, on, pins, said, workload
from tests.unit.plugins.plugin_utils.pins.test_pin_sets import WRONG

FOLDER = Path(__file__).parents[5] / "docs/pins"
HOW = "write them again: .config/run python -m ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.pages docs/pins"
GRACE = on("ubuntu2404", kernel="6.14.0-1015-nvidia-64k")
NOTED = {
    "range": [{"nvidia_driver.version": "580.*"}],
    "driver_branch_known": [{"nvidia_driver.version": "630.10.01"}],
    "driver_release_known": [{"nvidia_driver.version": "580.999.99"}],
    "driver_end_of_life": [{"nvidia_driver.version": "595.112.07"}],
    "gpu_known": [gpus("Radeon", 1)],
    "gpu_count": [gpus("A100-SXM4-80GB", 6)],
    "cuda_minor_compatibility": [workload("13.3")],
    "cuda_too_old_for_gpu": [gpus("B300", 1), workload("12.8")],
    "toolkit_none": [{"container_toolkit": None}],
    "toolkit_release_known": [{"container_toolkit.version": "1.21.0"}],
    "engine_cdi_off": [{"docker.version": "26.1.5", "docker.containerd": "1.7.24", "docker.runc": "1.1.15"}],
    "extra_module_name": [{"extra_modules": [{"name": "MLNX_OFED", "version": "24.10"}, {"name": "gdrdrv-dkms", "version": "2.5"}]}],
    "imex_unused": [companions("580.178.04", "imex")],
    "managed_by_ansible": [on("rhel8"), {"os.cgroup": 1}],
    "fabric_manager_unused": [GRACE, gpus("GB200", 4), companions("580.178.04", "fabric_manager", "imex")],
    "kernel_of_distribution": [on("rhel9", kernel="5.14.0-570.12.1.el9_6.x86_64")],
    "prebuilt_modules": [on("ubuntu2404"), {"nvidia_driver.version": "620.70.06", "nvidia_driver.build": "prebuilt"}],
    "mig_profile": [gpus("A30", 2), {"mig.profile": "ours"}],
}


@pytest.mark.parametrize("rule", NOTED)
def test_a_note_is_a_note(rule):
    whole = pins(*NOTED[rule])
    assert ("note", rule) in said(whole, ("note",))
    assert said(whole) == set()


def test_every_rule_has_a_set_that_it_speaks_of():
    spoken = {f"pins.{rule}" for rule in (*NOTED, *(rule for rule, _changes in WRONG.values()))}
    assert sorted(set(PIN_RULES) - spoken) == []


def test_the_pages_in_the_repository_are_those_that_the_rules_make():
    written = {path.name: path.read_text() for path in FOLDER.glob("*.md")}
    assert sorted(name for name in {*written, *pages()} if written.get(name) != pages().get(name)) == [], HOW


def test_every_rule_says_why_how_to_mend_and_from_where():
    assert [rule.id for rule in every() if not all((rule.title, rule.why, rule.fix, rule.source))] == []


def test_the_page_of_a_rule_that_is_gone_goes_too(tmp_path):
    (tmp_path / "pins.gone.md").write_text("x")
    main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(pages())
