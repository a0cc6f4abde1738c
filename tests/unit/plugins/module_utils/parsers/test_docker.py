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
