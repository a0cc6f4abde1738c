import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.driver_services import Holder, daemons_of, holders, holders_sentence, paused, unit_of


@pytest.mark.parametrize(
    ("packages", "units"),
    [
        (["nvidia-smi", "libcuda1"], []),
        (["nvidia-fabricmanager", "nvidia-persistenced", "nvidia-smi"], ["nvidia-persistenced", "nvidia-fabricmanager"]),
        (["nvidia-compute-utils-580-server", "nvidia-fabricmanager-580"], ["nvidia-persistenced", "nvidia-fabricmanager"]),
        (["nvidia-imex-580", "nvidia-fabric-manager", "nvidia-persistenced"], ["nvidia-persistenced", "nvidia-fabricmanager", "nvidia-imex"]),
        (["nvidia-fabricmanager-dev", "nvidia-persistenced-doc"], []),
    ],
)
def test_the_daemons_are_those_of_the_locked_packages_in_their_order(packages, units):
    assert daemons_of(packages) == units


def test_persistence_can_be_left_out():
    assert daemons_of(["nvidia-persistenced", "nvidia-imex"], persistence=False) == ["nvidia-imex"]


def test_what_runs_is_stopped_in_reverse_and_started_again_also_after_a_failure():
    calls = []

    def run(argv):
        calls.append(" ".join(argv[1:]))
        return (3 if argv[-1] == "dcgm" else 0), "", ""

    with pytest.raises(RuntimeError), paused(run, ["a", "dcgm", "b"]):
        calls.append("work")
        raise RuntimeError
    assert [call for call in calls if not call.startswith("is-active")] == ["stop b", "stop a", "work", "start a", "start b"]


def process(procfs, pid, name, cgroup, *files):
    folder = procfs / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "comm").write_text(f"{name}\n")
    (folder / "cgroup").write_text(cgroup)
    for number, file in enumerate(files):
        (folder / "fd" / str(number)).symlink_to(file)


def test_holders_are_the_processes_with_an_open_node_but_the_daemons(tmp_path):
    process(tmp_path, 1, "systemd", "0::/init.scope\n", "/dev/null")
    process(tmp_path, 40, "nvidia-persiste", "0::/system.slice/nvidia-persistenced.service\n", "/dev/nvidia0")
    process(tmp_path, 77, "python3", "0::/user.slice/session-1.scope\n", "/dev/null", "/dev/nvidia-uvm")
    process(tmp_path, 9, "node", "12:pids:/x\n0::/system.slice/docker.service\n", "/dev/nvidia3")
    (tmp_path / "self").mkdir()
    assert holders(but=["nvidia-persistenced"], procfs=tmp_path) == [Holder(9, "node", "docker"), Holder(77, "python3", "")]
    assert len(holders(procfs=tmp_path)) == 3


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("0::/a/payload/system.slice/nvidia-persistenced.service\n", "nvidia-persistenced"),
        ("0::/machine.slice/host.service/payload/system.slice/dcgm.service/sub\n", "dcgm"),
        ("1:name=systemd:/user.slice/user-0.slice/session-3.scope\n", ""),
        ("", ""),
    ],
)
def test_the_unit_is_the_innermost_service(cgroup, unit):
    assert unit_of(cgroup) == unit


def test_holders_are_named_the_first_five():
    assert holders_sentence([]) == ""
    assert holders_sentence([Holder(7, "a", ""), Holder(8, "b", "")]) == "a (7), b (8)"
    assert holders_sentence([Holder(n, "x", "") for n in range(8)]).endswith("x (4) and 3 more")
