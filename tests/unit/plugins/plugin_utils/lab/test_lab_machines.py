# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups, identity, machines, network, services, supervisor

LAB = identity.with_nodes(identity.Lab("3f9a1c", "10.1.2.0/24"), ["lab-a10-canary-1", "lab-a10-canary-2"])


def test_a_node_may_neither_set_the_clock_nor_load_modules_nor_read_the_machines_log() -> None:
    line = machines.argv(LAB, "lab-a10-canary-1", Path("/r"))
    assert "--drop-capability=CAP_SYS_TIME,CAP_SYS_MODULE,CAP_SYS_RAWIO,CAP_SYSLOG" in line
    assert machines.ENVIRONMENT["SYSTEMD_NSPAWN_API_VFS_WRITABLE"] == "network"


def test_a_nodes_line_names_its_own_root_and_network() -> None:
    line = machines.argv(LAB, "lab-a10-canary-1", Path("/r"))
    assert {"--directory=/r", "--machine=gn3f9a1c-lab-a10-canary-1", "--hostname=lab-a10-canary-1"} <= set(line)
    assert "--network-namespace-path=/run/netns/gn3f9a1c-lab-a10-canary-1" in line


def test_the_supervisor_lives_outside_of_its_nodes_group() -> None:
    assert not machines.supervisor_group(LAB, "lab-a10-canary-1").startswith(machines.node_group(LAB, "lab-a10-canary-1"))


@pytest.mark.parametrize(("ends", "runs"), [([0], 1), ([133, 133, 0], 3), ([133, 1], 2)])
def test_a_machine_starts_again_after_a_reboot_and_only_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: list[int], runs: int) -> None:
    cleared: list[str] = []
    monkeypatch.setattr(cgroups, "clear", cleared.append)
    monkeypatch.setattr(cgroups, "joiner", lambda group: lambda: None)
    statuses, log = tmp_path / "statuses", tmp_path / "log"
    statuses.write_text(" ".join(map(str, ends)))
    script = (
        "import pathlib, sys; s = pathlib.Path(sys.argv[1]); l = pathlib.Path(sys.argv[2]); first, *rest = s.read_text().split();"
        "s.write_text(' '.join(rest)); l.open('a').write('x'); sys.exit(int(first))"
    )
    assert supervisor.run_until_off("g", [sys.executable, "-c", script, str(statuses), str(log)], dict(os.environ)) == ends[-1]
    assert len(log.read_text()) == runs
    assert cleared == ["g"] * (runs + 1)


def test_nothing_of_a_network_leaves_the_lab() -> None:
    words = [word for line in [*network.hub_commands(LAB), *network.node_commands(LAB, "lab-a10-canary-1")] for word in line]
    assert "default" not in words
    assert "route" not in words


def test_every_interface_name_fits_the_kernels_limit() -> None:
    lab = identity.Lab("abcdefgh", "10.1.2.0/24", {"lab-a-very-long-name-canary-1": 249})
    for line in [*network.hub_commands(lab), *network.node_commands(lab, "lab-a-very-long-name-canary-1")]:
        names = [line[at + 1] for at, word in enumerate(line[:-1]) if word in ("name", "dev") or (word == "add" and line[at - 1] == "link")]
        assert all(len(name) <= 15 for name in names)


def test_two_labs_share_no_name() -> None:
    other = identity.with_nodes(identity.Lab("aaaaaa", "10.1.3.0/24"), LAB.nodes)
    mine, theirs = ({lab.prefix, lab.state, *(lab.namespace(node) for node in lab.nodes)} for lab in (LAB, other))
    assert not mine & theirs


def test_servers_listen_on_the_hub_alone() -> None:
    assert services.registry_config(LAB)["http"]["addr"] == "10.1.2.1:5000"  # type: ignore[index]
    line = services.argv(LAB, "http")
    assert line[line.index("--bind") + 1] == "10.1.2.1"
    assert line[:2] == ["nsenter", "--net=/run/netns/gn3f9a1c"]
