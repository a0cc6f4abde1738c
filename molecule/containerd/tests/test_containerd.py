"""containerd is the engine, its configuration was broken in each way and is whole (side_effect.yml)."""


def dump(host):
    return host.check_output("containerd config dump")


def test_every_locked_package_is_installed_at_its_version_and_held(deviations, variant_lock):
    assert deviations(variant_lock, "engine") == []


def test_no_docker_is_there(host):
    assert not host.exists("dockerd")


def test_the_pinned_containerd_and_runc_answer(host, variant_lock):
    pins = variant_lock["pins"]["containerd"]
    assert pins["version"] in host.check_output("ctr version").partition("Server:")[2]
    assert pins["runc"] in host.check_output("runc --version")


def test_runc_is_the_default_and_nvidia_is_a_runtime(host):
    text = dump(host)
    assert 'default_runtime_name = "runc"' in text
    assert 'BinaryName = "/usr/bin/nvidia-container-runtime"' in text


def test_systemd_manages_the_control_groups_of_both_runtimes(host):
    assert dump(host).count("SystemdCgroup = true") == 2


def test_cdi_is_on(host):
    assert "enable_cdi = true" in dump(host)


def test_the_options_of_the_pool_are_taken(host):
    assert "oom_score = -999" in dump(host)


def test_the_runtime_is_in_a_drop_in_that_is_no_newer_than_the_root(host):
    root, drop_in = (host.file(path).content_string for path in ("/etc/containerd/config.toml", "/etc/containerd/conf.d/99-nvidia.toml"))
    assert "version = 2" in root
    assert "version = 2" in drop_in
    assert "nvidia" not in root


def test_nothing_unfinished_is_left(host):
    files = host.check_output("find /etc/containerd -type f").split()
    assert sorted(path.rpartition("/")[2] for path in files) == ["99-nvidia.toml", "config.toml", "hosts.toml"]


def test_the_mirror_is_asked_first(host):
    assert '[host."http://mirror.example"]' in host.file("/etc/containerd/certs.d/docker.io/hosts.toml").content_string


def test_the_daemon_runs_with_the_proxies(host):
    pid = host.check_output("systemctl show --property=MainPID --value containerd")
    assert "NO_PROXY=.example" in host.check_output(f"tr '\\0' '\\n' < /proc/{pid}/environ").split()


def test_containerd_runs_and_starts_at_boot(host):
    service = host.service("containerd")
    assert service.is_running
    assert service.is_enabled
