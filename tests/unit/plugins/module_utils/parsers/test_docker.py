"""Docker's JSON and its text."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import docker

VERSION_TEXT = """Client:
 Version:           28.5.2
Server:
 Engine:
  Version:          26.1.5+dfsg1
 containerd:
  Version:          1.7.24~ds1
 runc:
  Version:          1.1.15+ds1
"""
INFO_TEXT = """Server:
 Server Version: 26.1.5+dfsg1
 CDI spec directories:
  /etc/cdi
  /var/run/cdi
 Runtimes: io.containerd.runc.v2 nvidia runc
 Default Runtime: runc
 Cgroup Driver: systemd
 Cgroup Version: 2
"""


def test_the_servers_versions_are_read_from_text_and_never_the_clients():
    assert docker.server_versions(VERSION_TEXT) == {"Engine": "26.1.5+dfsg1", "containerd": "1.7.24~ds1", "runc": "1.1.15+ds1"}
    assert docker.server_versions("Client:\n Version: 28.5.2\nCannot connect to the Docker daemon") == {}


def test_info_as_text_has_the_keys_of_info_as_json():
    info = docker.info(INFO_TEXT)
    assert (info["ServerVersion"], info["DefaultRuntime"], info["CgroupVersion"]) == ("26.1.5+dfsg1", "runc", "2")
    assert (sorted(info["Runtimes"]), info["CDISpecDirs"]) == (["io.containerd.runc.v2", "nvidia", "runc"], ["/etc/cdi", "/var/run/cdi"])


def test_a_text_without_any_known_line_says_nothing():
    assert docker.info("something else") is None


@pytest.mark.parametrize(("printed", "upstream"), [("26.1.5+dfsg1", "26.1.5"), ("v1.7.24~ds1-6", "1.7.24"), ("550.163.01-1+x", "550.163.01"), ("odd", "odd")])
def test_a_version_is_compared_without_what_the_distribution_adds(printed, upstream):
    assert docker.upstream(printed) == upstream


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"runtimes": {}}', None),
        ('{\n  "runtimes": {},\n}', "a comma before a closing bracket on line 2"),
        ("{\n  “dns”: []\n}", "typographic quotes on line 2"),
        ('{\n  "a": {}\n  "b": 1\n}', "a missing comma before the next key on line 2"),
        ('{"runtimes": {}}\n{"dns": []}', "Extra data: line 2 column 1 (char 17)"),
        ("[]", "it is not one JSON object"),
    ],
)
def test_what_is_wrong_with_daemon_json_is_named_with_its_line(text, fault):
    assert docker.daemon_json_fault(text, complete=False) == fault


def test_a_cut_excerpt_of_daemon_json_is_not_blamed():
    assert docker.daemon_json_fault('{"runtimes": {"nvidia":', complete=False) is None
    assert docker.daemon_json_fault('{"runtimes": {"nvidia":', complete=True)


def test_info_as_text_tells_docker_desktop_and_a_rootless_daemon():
    info = docker.info(" Operating System: Docker Desktop\n Security Options:\n  seccomp\n  rootless\n Docker Root Dir: /var/lib/docker\n")
    assert (info["OperatingSystem"], info["SecurityOptions"], info["DockerRootDir"]) == ("Docker Desktop", ["name=rootless"], "/var/lib/docker")
