"""The daemon's configuration was broken in each way and is whole (side_effect.yml)."""

import json


def daemon_json(host):
    return json.loads(host.file("/etc/docker/daemon.json").content_string)


def info(host):
    return json.loads(host.check_output("docker info --format '{{json .}}'"))


def test_every_locked_package_is_installed_at_its_version_and_held(deviations, lock):
    assert deviations(lock, "engine") == []


def test_the_pinned_docker_answers(host, lock):
    assert info(host)["ServerVersion"].startswith(lock["pins"]["docker"]["version"])


def test_runc_stays_the_default_and_nvidia_is_registered(host):
    assert info(host)["DefaultRuntime"] == "runc"
    assert "nvidia" in info(host)["Runtimes"]


def test_cdi_is_on(host):
    assert info(host)["CDISpecDirs"] == ["/etc/cdi", "/var/run/cdi"]


def test_the_users_keys_stay_beside_ours(host):
    content = daemon_json(host)
    assert content["features"] == {"cdi": True, "containerd-snapshotter": False}
    assert content["log-opts"] == {"max-size": "10m"}


def test_no_refused_key_and_no_unfinished_run_is_left(host):
    assert not {"no-such-key", "storage-driver"} & daemon_json(host).keys()
    assert host.check_output("find /etc/docker -name '*daemon.json*'") == "/etc/docker/daemon.json"


def test_the_pools_settings_are_the_daemons(host):
    seen = info(host)
    assert (seen["LoggingDriver"], seen["DockerRootDir"], seen["NoProxy"]) == ("local", "/var/lib/docker-data", ".example")
    content = daemon_json(host)
    assert content["default-shm-size"] == "1G"
    assert content["default-ulimits"] == {"nofile": {"Name": "nofile", "Soft": 4096, "Hard": 8192}}


def test_a_mirror_was_taken_by_a_reload(host):
    assert info(host)["RegistryConfig"]["Mirrors"] == ["http://mirror.example/"]


def test_live_restore_is_off_again(host):
    assert info(host)["LiveRestoreEnabled"] is False


def test_credentials_that_are_no_longer_asked_for_are_gone(host):
    assert not host.file("/root/.docker/config.json").exists
    assert not host.file("/etc/goldnode/registries.json").exists


def test_docker_runs_and_starts_at_boot(host):
    service = host.service("docker")
    assert service.is_running
    assert service.is_enabled


def test_an_upgrade_moves_nothing(host):
    assert "0 upgraded, 0 newly installed, 0 to remove" in host.check_output("apt-get --simulate full-upgrade")
