"""Podman is the engine; it was asked for what it does not know (side_effect.yml)."""

import json


def test_every_locked_package_is_installed_at_its_version_and_held(deviations, variant_lock):
    assert deviations(variant_lock, "engine") == []


def test_no_docker_is_there(host):
    assert not host.exists("dockerd")


def test_the_pinned_podman_answers(host, variant_lock):
    assert variant_lock["pins"]["podman"]["version"] in host.check_output("podman --version")


def test_systemd_manages_the_control_groups(host):
    seen = json.loads(host.check_output("podman info --format=json"))["host"]
    assert (seen["cgroupManager"], seen["cgroupVersion"]) == ("systemd", "v2")


def test_the_drop_in_is_the_roles_own_again(host):
    folder = host.file("/etc/containers/containers.conf.d")
    assert folder.listdir() == ["50-goldnode.conf"]
    text = host.file("/etc/containers/containers.conf.d/50-goldnode.conf").content_string
    assert 'shm_size = "1g"' in text
    assert 'env = ["NO_PROXY=.example"]' in text


def test_the_mirror_is_known(host):
    assert "mirror.example" in host.check_output("podman info --format=json")


def test_nothing_injects_the_devices_twice(host):
    assert not host.file("/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json").exists
