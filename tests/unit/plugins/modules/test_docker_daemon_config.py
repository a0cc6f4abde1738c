"""The module against a node whose programs answer from a table."""

import json

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from ansible_collections.goldnode.gpu.plugins.modules.docker_daemon_config import Docker, configure, prove

VERSION = {"Server": {"Components": [{"Name": "Engine", "Version": "29.9.0"}, {"Name": "runc", "Version": "1.5.1"}]}}
GPU_JOB = [{"Name": "/job", "HostConfig": {"DeviceRequests": [{"Capabilities": [["gpu"]]}]}}]
PLAIN_JOB = [{"Name": "/job", "HostConfig": {}}]
EXEC = "{ path=/usr/bin/dockerd ; argv[]=/usr/bin/dockerd -H fd:// ; ignore_errors=no }"


class Node:
    """An AnsibleModule of which the module under test needs no more. `ran` are the calls of systemctl that change something."""

    def __init__(self, tmp_path, containers=(), live_restore=False, answers=True, **params):
        self.params = {"options": {}, "running": True, "restart": False, "restart_allowed": False, "environment": {}, "versions": {}, "cgroup": None, **params}
        self.check_mode, self.tmpdir = False, str(tmp_path / "scratch")
        self.containers, self.live_restore, self.answers = containers, live_restore, answers
        self.ran: list[str] = []

    def get_bin_path(self, name):
        return name

    def run_command(self, command):
        if command[:2] == ["systemctl", "reload"] or command[:2] == ["systemctl", "restart"]:
            self.ran.append(command[1])
            self.answers = True
        known = {
            "docker version": json.dumps(VERSION),
            "docker info": json.dumps({"LiveRestoreEnabled": self.live_restore, "CgroupVersion": "2", "CgroupDriver": "systemd"}),
            "docker ps": "1\n" if self.containers else "",
            "docker inspect": json.dumps(self.containers),
            "dockerd --version": "Docker version 29.9.0, build 1",
            "dockerd --validate": "configuration OK",
            "systemctl show": EXEC if "--property=ExecStart" in command else "",
        }
        rc = 0 if self.answers or command[0] != "docker" else 1
        return rc, known.get(" ".join(command[:2]), "") if rc == 0 else "", ""


def configured(node, path):
    return configure(node, Docker(node), path)["changed"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "daemon.json"


def test_a_restart_under_a_container_with_a_gpu_is_refused_and_changes_nothing(tmp_path, path):
    node = Node(tmp_path, GPU_JOB, options={"data-root": "/d"})
    with pytest.raises(RefusedError, match=r"GPU \(job\); nothing was changed: .*docker_restart_allowed"):
        configured(node, path)
    assert not path.exists()
    assert node.ran == []


@pytest.mark.parametrize(
    "other", [{"containers": PLAIN_JOB}, {"live_restore": True}, {"restart_allowed": True}, {"containers": (), "options": {"data-root": "/e"}}]
)
def test_a_restart_that_stops_no_gpu_job_or_is_allowed_is_done(tmp_path, path, other):
    node = Node(tmp_path, **{"containers": GPU_JOB, "options": {"data-root": "/d"}, **other})
    assert configured(node, path)
    assert node.ran == ["restart"]
    assert sorted(one.name for one in tmp_path.glob("daemon.json*")) == ["daemon.json"]


def test_what_a_reload_takes_is_taken_by_a_reload_also_under_a_gpu_job(tmp_path, path):
    node = Node(tmp_path, GPU_JOB, options={"live-restore": True})
    assert configured(node, path)
    assert node.ran == ["reload"]


def test_packages_that_are_about_to_move_ask_whether_they_may(tmp_path, path):
    node = Node(tmp_path, GPU_JOB, restart=True)
    node.check_mode = True
    with pytest.raises(RefusedError, match="must be restarted"):
        configured(node, path)


def test_a_second_run_changes_nothing(tmp_path, path):
    assert configured(Node(tmp_path, options={"data-root": "/d"}), path)
    node = Node(tmp_path, options={"data-root": "/d"})
    assert not configured(node, path)
    assert node.ran == []


def test_a_daemon_that_does_not_answer_is_restarted(tmp_path, path):
    node = Node(tmp_path, GPU_JOB, answers=False)
    assert configured(node, path)
    assert node.ran == ["restart"]


def test_check_mode_says_what_would_be_and_does_nothing(tmp_path, path):
    node = Node(tmp_path, options={"data-root": "/d"})
    node.check_mode = True
    assert configured(node, path)
    assert not path.exists()
    assert node.ran == []


def test_a_flag_of_the_unit_is_refused(tmp_path, path):
    with pytest.raises(RefusedError, match=r"gives -H \(hosts\) as a flag"):
        configured(Node(tmp_path, options={"hosts": ["fd://"]}), path)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [({"versions": {"runc": "1.4.3"}}, "runc 1.5.1, expected 1.4.3"), ({"cgroup": 1}, "control groups of version 2, expected 1")],
)
def test_what_answers_is_compared_with_the_pins(tmp_path, wanted, words):
    node = Node(tmp_path, **wanted)
    with pytest.raises(RefusedError, match=words):
        prove(node, Docker(node))


def test_versions_and_cgroups_are_returned(tmp_path):
    node = Node(tmp_path, versions={"Engine": "29.9.0"}, cgroup=2)
    assert prove(node, Docker(node)) == {"versions": {"Engine": "29.9.0", "runc": "1.5.1"}, "cgroup": {"version": "2", "driver": "systemd"}}
