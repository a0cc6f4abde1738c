"""The module mig_layout: in use is refused before anything is changed, monitors pause, check mode only says."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.driver_services import Holder
from ansible_collections.goldnode.gpu.plugins.module_utils.mig_layout import MigError
from ansible_collections.goldnode.gpu.plugins.modules import mig_layout

from tests.unit.plugins.module_utils.test_mig_layout import Smi, a100


@pytest.fixture
def paused(monkeypatch):
    """The units that paused; nobody holds a GPU."""
    units = []
    monkeypatch.setattr(mig_layout, "paused", lambda _run, names: units.extend(names) or nullcontext())
    monkeypatch.setattr(mig_layout, "holders", lambda but: [])
    return units


def module(check_mode=False):
    return SimpleNamespace(check_mode=check_mode, params={"services": ["nvidia-persistenced"]}, run_command=None)


def test_the_layout_is_made_while_daemons_and_monitors_pause(paused):
    result = mig_layout.settle(module(), Smi(a100("7g.80gb")), "3g.40gb,1g.10gb")
    assert result["changed"] is True
    assert result["diff"] == {"before": "GPU 0: MIG Enabled 7g.80gb\n", "after": "GPU 0: MIG Enabled 1g.10gb 3g.40gb\n"}
    assert {"nvidia-persistenced", "nvidia-dcgm"} <= set(paused)


def test_what_is_as_pinned_is_left_alone_though_it_is_in_use(paused, monkeypatch):
    monkeypatch.setattr(mig_layout, "holders", lambda but: [Holder(7, "python3", "")])
    assert mig_layout.settle(module(), Smi(a100("7g.80gb")), "all-7g.80gb")["changed"] is False
    assert paused == []


def test_a_gpu_in_use_is_refused_with_its_user(paused, monkeypatch):
    monkeypatch.setattr(mig_layout, "holders", lambda but: [Holder(7, "python3", "")])
    smi = Smi(a100("7g.80gb"))
    with pytest.raises(MigError, match=r"in use by python3 \(7\), and layout all-1g.10gb needs them idle"):
        mig_layout.settle(module(), smi, "all-1g.10gb")
    assert smi.gpus["0"].profiles == ("7g.80gb",)
    assert paused == []


def test_check_mode_says_what_it_would_do(paused):
    smi = Smi(a100("7g.80gb"))
    result = mig_layout.settle(module(check_mode=True), smi, "all-1g.10gb")
    assert (result["changed"], result["diff"]["after"], smi.gpus["0"].profiles) == (True, "MIG layout all-1g.10gb\n", ("7g.80gb",))


def test_a_word_that_is_no_layout_is_refused(paused):
    with pytest.raises(MigError, match=r"mig\.profile is 'half'; accepted: all-disabled"):
        mig_layout.settle(module(), Smi(a100()), "half")
