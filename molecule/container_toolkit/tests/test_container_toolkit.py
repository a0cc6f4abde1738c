"""The node went to an older toolkit and was rebooted (side_effect.yml)."""


def test_every_locked_package_is_installed_at_its_version_and_held(deviations, variant_lock):
    assert deviations(variant_lock, "container_toolkit") == []


def test_all_four_packages_are_of_one_version(host):
    versions = host.check_output("dpkg-query --show --showformat='${Version}\\n' 'nvidia-container-*' 'libnvidia-container*'").splitlines()
    assert len(versions) == 4
    assert set(versions) == {"1.18.2-1+goldnode.lab"}


def test_the_spec_of_the_loaded_driver_is_there_after_a_reboot(host, lock):
    spec = host.file("/var/run/cdi/nvidia.yaml").content_string
    assert f"libcuda.so.{lock['pins']['nvidia_driver']['version']}" in spec
    assert "nvidia.com/gpu=all" in host.check_output("nvidia-ctk cdi list")


def test_the_spec_is_written_before_docker(host):
    order = host.check_output("systemctl show --property=Before --value goldnode-cdi.service").split()
    assert "docker.service" in order
    assert host.check_output("systemctl show --property=Result --value goldnode-cdi.service") == "success"


def test_the_spec_has_one_writer(host):
    assert host.check_output("systemctl show --property=Triggers --value nvidia-cdi-refresh.path") == "goldnode-cdi.service"
    host.run_test("systemctl start nvidia-cdi-refresh.service")
    assert host.check_output("systemctl show --property=ConditionResult --value nvidia-cdi-refresh.service") == "no"


def test_the_boot_had_no_ordering_cycle(host):
    assert "ordering cycle" not in host.check_output("journalctl --boot --output=cat --no-pager")


def test_the_option_is_set_and_its_neighbours_stay(host):
    config = host.file("/etc/nvidia-container-runtime/config.toml").content_string
    assert 'mode = "cdi"' in config
    assert 'log-level = "info"' in config
