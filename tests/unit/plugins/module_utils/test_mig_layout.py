import re
import subprocess
import sys

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import mig_layout
from ansible_collections.goldnode.gpu.plugins.module_utils.mig_layout import Gpu, MigError

A100_80 = {"1g.10gb": 7, "1g.10gb+me": 1, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1}
A30 = {"1g.6gb": 4, "1g.6gb+me": 1, "2g.12gb": 2, "2g.12gb+me": 1, "4g.24gb": 1}
# nvidia-smi 580 in the form of NVIDIA's MIG user guide
PROFILES = """+-----------------------------------------------------------------------------+
| GPU instance profiles:                                                      |
| GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  |
|                              Free/Total   GiB              CE    JPEG  OFA  |
|=============================================================================|
|   0  MIG 1g.10gb       19     0/7        9.50       No     14     0     0   |
|                                                             1     0     0   |
+-----------------------------------------------------------------------------+
|   0  MIG 1g.10gb+me    20     1/1        9.50       No     14     1     0   |
|                                                             1     1     1   |
+-----------------------------------------------------------------------------+
"""
LISTING = """GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-a)
  MIG 3g.40gb     Device  0: (UUID: MIG-a)
  MIG 1c.3g.40gb  Device  1: (UUID: MIG-b)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-b)
"""


class Smi:
    """nvidia-smi of GPUs of one kind, as far as the layout asks: `reset` says that a mode waits for one, `busy` that nothing may be destroyed."""

    def __init__(self, *gpus, capacity=A100_80, reset=False, busy=False, loses=False):
        self.gpus = {gpu.number: gpu for gpu in gpus}
        self.capacity, self.reset, self.busy, self.loses, self.calls = capacity, reset, busy, loses, []

    def __call__(self, *words):
        self.calls.append(" ".join(words))
        number = words[words.index("-i") + 1] if "-i" in words else None
        if "-L" in words:
            return "".join(f"GPU {gpu.number}: X (UUID: G)\n" + "".join(f"  MIG {one} Device 0:\n" for one in gpu.profiles) for gpu in self.gpus.values())
        if words[0].startswith("--query-gpu"):
            return "".join(f"{gpu.number}, {gpu.mode}, {gpu.pending}\n" for gpu in self.gpus.values())
        return self.change(number, list(words))

    def change(self, number, words):
        gpu = self.gpus[number]
        if "-lgip" in words:
            return "".join(f"|   {number}  MIG {name}  19  0/{most}  9.50 |\n" for name, most in self.capacity.items())
        if self.busy and {"-dci", "-dgi"} & set(words):
            raise MigError("In use by another client")
        if {"-dci", "-dgi"} & set(words) and not gpu.profiles:
            raise MigError("No GPU instances found: Not Found")
        if "-dgi" in words:
            gpu = gpu._replace(profiles=())
        if "-mig" in words:
            pending = "Enabled" if words[-1] == "1" else "Disabled"
            gpu = gpu._replace(pending=pending, mode=gpu.mode if self.reset else pending)
        if "--gpu-reset" in words:
            gpu = gpu._replace(mode=gpu.pending)
        if "-cgi" in words and not self.loses:
            gpu = gpu._replace(profiles=tuple(words[words.index("-cgi") + 1].split(",")))
        self.gpus[number] = gpu
        return ""


def a100(*profiles, number="0", mode="Enabled"):
    return Gpu(number, mode, mode, profiles)


@pytest.mark.parametrize(
    ("layout", "capacity", "instances"),
    [
        ("all-1g.10gb", A100_80, ["1g.10gb"] * 7),
        ("3g.40gb", A100_80, ["3g.40gb"] * 2),
        ("all-1g.10gb.me", A100_80, ["1g.10gb+me"]),
        ("1g.10gb,3g.40gb, 2g.20gb", A100_80, ["3g.40gb", "2g.20gb", "1g.10gb"]),
        ("all-balanced", A100_80, ["3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"]),
        ("all-balanced", A30, ["2g.12gb", "1g.6gb", "1g.6gb"]),
        ("all-enabled", A100_80, []),
        ("all-disabled", {}, []),
    ],
)
def test_a_layout_means_these_instances_the_largest_first(layout, capacity, instances):
    assert mig_layout.is_layout(layout)
    assert list(mig_layout.wanted(layout, capacity)) == instances


@pytest.mark.parametrize(("layout", "capacity"), [("all-1g.5gb", A100_80), ("3g.40gb,1g.6gb", A100_80), ("all-balanced", {})])
def test_a_profile_that_the_gpu_lacks_is_refused_with_those_that_it_has(layout, capacity):
    with pytest.raises(MigError, match=r"the GPU has no MIG profile .*, it has (1g.10gb, |none)"):
        mig_layout.wanted(layout, capacity)


@pytest.mark.parametrize("text", ["", "all", "all-", "half", "1g", "1g.10gb;reboot", "1g.10gb,", "mixed", "all-7g.80gb,x"])
def test_another_word_is_no_layout(text):
    assert not mig_layout.is_layout(text)


def test_the_tables_of_nvidia_smi_are_read():
    assert mig_layout.capacities(PROFILES) == {"1g.10gb": 7, "1g.10gb+me": 1}
    query = "0, Enabled, Enabled\n1, Disabled, Enabled\n2, [N/A], [N/A]\n"
    found = mig_layout.gpus(query, LISTING)
    assert found == [a100("3g.40gb", "1c.3g.40gb"), Gpu("1", "Disabled", "Enabled", ()), Gpu("2", "[N/A]", "[N/A]", ())]


@pytest.mark.parametrize(
    ("before", "layout", "after"),
    [
        (a100(), "all-3g.40gb", a100("3g.40gb", "3g.40gb")),
        (a100(mode="Disabled"), "all-3g.40gb", a100("3g.40gb", "3g.40gb")),
        (a100("7g.80gb"), "3g.40gb,1g.10gb", a100("3g.40gb", "1g.10gb")),
        (a100("3g.40gb"), "all-3g.40gb", a100("3g.40gb", "3g.40gb")),  # a killed run made one of two
        (a100("7g.80gb"), "all-enabled", a100()),
        (a100("7g.80gb"), "all-disabled", a100(mode="Disabled")),
        (Gpu("0", "Disabled", "Enabled", ()), "all-7g.80gb", a100("7g.80gb")),  # a mode that waits for a reset
    ],
)
@pytest.mark.parametrize("reset", [True, False])
def test_a_gpu_is_brought_to_the_layout_and_then_left_alone(before, layout, after, reset):
    smi = Smi(before, reset=reset)
    mig_layout.bring(smi, layout)
    assert list(smi.gpus.values()) == [after]
    smi.calls.clear()
    assert mig_layout.differing(smi, layout) == []
    mig_layout.bring(smi, layout)
    assert not [call for call in smi.calls if re.search(r"-mig|-cgi|-d[cg]i|reset", call)]


def test_only_the_gpu_that_differs_is_touched():
    smi = Smi(a100("7g.80gb"), a100(number="1"))
    mig_layout.bring(smi, "all-7g.80gb")
    assert not [call for call in smi.calls if "-i 0" in call and "-lgip" not in call]


def test_a_mode_that_holds_at_once_needs_no_reset():
    smi = Smi(a100(mode="Disabled"))
    mig_layout.bring(smi, "all-1g.10gb")
    assert "--gpu-reset -i 0" not in smi.calls


def test_a_gpu_without_mig_is_refused_unless_none_is_wanted():
    smi = Smi(Gpu("0", "[N/A]", "[N/A]", ()))
    with pytest.raises(MigError, match="GPU 0 of this node has no MIG"):
        mig_layout.bring(smi, "all-1g.10gb")
    mig_layout.bring(smi, "all-disabled")


def test_an_instance_in_use_ends_it_with_the_tool_s_words():
    with pytest.raises(MigError, match="In use by another client"):
        mig_layout.bring(Smi(a100("7g.80gb"), busy=True), "all-1g.10gb")


def test_what_nvidia_smi_shows_afterwards_decides():
    with pytest.raises(MigError, match=r"after the change nvidia-smi shows GPU 0: MIG Enabled, no instance, the layout is all-1g.10gb"):
        mig_layout.bring(Smi(a100(), loses=True), "all-1g.10gb")


def test_at_boot_it_runs_alone_and_says_why_not(tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    tool.chmod(0o755)
    argv = [sys.executable, "-I", mig_layout.__file__, "all-1g.10gb"]
    done = subprocess.run(argv, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("goldnode: MIG layout all-1g.10gb: nvidia-smi --query-gpu=index,")
    assert done.stderr.endswith("ended with 6: No devices were found\n")
