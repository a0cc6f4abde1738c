import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.package_lock import Package
from ansible_collections.goldnode.gpu.plugins.module_utils.package_manager import MANAGERS, Apt
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

PACKAGE = Package("nvidia-kernel-dkms", "550.1-1", "amd64", "a" * 64)


class Commands:
    """Answers `apt-get install` with a failure and everything else with success; remembers what ran."""

    def __init__(self, output):
        self.output, self.ran = output, []

    def __call__(self, argv, **_options):
        self.ran.append(argv[:2])
        return (100, self.output, "E: Sub-process /usr/bin/dpkg returned an error code (1)\n") if argv[:2] == ["apt-get", "install"] else (0, "", "")


def test_a_failed_build_says_what_decided(tmp_path):
    log = tmp_path / "make.log"
    log.write_text("CC x.o\nx.c:3:1: error: implicit declaration of function 'follow_pfn'\n")
    commands = Commands(f"Error! Bad return status for module build\nConsult {log} for more information.\n")
    with pytest.raises(RefusedError, match="error: implicit declaration of function 'follow_pfn'"):
        Apt(commands).install([PACKAGE])


def test_what_arrived_is_held_also_after_a_failure():
    commands = Commands("")
    with pytest.raises(RefusedError, match="returned an error code"):
        Apt(commands).install([PACKAGE])
    assert commands.ran[-1] == ["apt-mark", "hold"]


def test_a_nodes_state_is_read_by_one_command_however_many_packages():
    for manager, expected in (("apt", [["dpkg-query", "--show"]]), ("dnf", [["rpm", "--query"]])):
        commands = Commands("")
        MANAGERS[manager](commands).installed([PACKAGE] * 50)
        assert commands.ran == expected
