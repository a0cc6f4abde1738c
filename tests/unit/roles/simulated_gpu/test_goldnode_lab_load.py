import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.roles.simulated_gpu.simulated_gpu_node import OLD_DRIVER, PROFILES, boot, build_module

BAD_LAYOUT = "nvidia: disagrees about version of symbol module_layout"


def test_a_module_built_for_the_kernel_gives_the_node_its_gpu(lab_node):
    lab_node.install_module()
    lab_node.boot()
    assert lab_node.gpu_works
    assert lab_node.read("proc/sys/kernel/osrelease") == "6.12.107+deb13-amd64\n"
    assert "580.159.03" in lab_node.read("proc/driver/nvidia/version")
    assert lab_node.read("proc/modules").splitlines()[3].startswith("nvidia 60710912 2 nvidia_uvm,nvidia_modeset,")
    assert lab_node.device_nodes["nvidia0"] == (195, 0)
    assert lab_node.device_nodes["nvidiactl"] == (195, 255)


def test_kernel_log_begins_with_this_boot_and_names_the_driver(lab_node):
    lab_node.install_module()
    lab_node.boot()
    lab_node.boot()
    lines = lab_node.read("kernel.log").splitlines()
    assert "Linux version 6.12.107" in lines[0]
    assert sum("NVRM: loading NVIDIA UNIX Open Kernel Module" in line for line in lines) == 1


def test_a_module_of_other_headers_does_not_load(lab_node):
    lab_node.install_kernel("6.12.121", checksum=0x22)
    lab_node.install_module("6.12.121", checksum=0x23)
    lab_node.boot()
    assert lab_node.read("proc/sys/kernel/osrelease") == "6.12.121+deb13-amd64\n"
    assert not lab_node.gpu_works
    assert BAD_LAYOUT in lab_node.read("kernel.log")


def test_a_module_of_another_kernel_does_not_load(lab_node):
    lab_node.install_module(built_for="6.12.117")
    lab_node.boot()
    assert not lab_node.gpu_works
    assert "nvidia: version magic '6.12.117+deb13-amd64 SMP ' should be '6.12.107+deb13-amd64 SMP '" in lab_node.read("kernel.log")


def test_a_damaged_module_does_not_load(lab_node):
    lab_node.install_module()
    path = next(lab_node.root.glob("usr/lib/modules/*/updates/dkms/nvidia.ko"))
    path.write_bytes(b"not ELF")
    lab_node.boot()
    assert not lab_node.gpu_works
    assert "Invalid ELF header magic" in lab_node.read("kernel.log")


def test_a_kernel_without_module_leaves_the_node_without_gpu(lab_node):
    lab_node.install_module()
    lab_node.install_kernel("6.12.117")
    lab_node.boot()
    assert not lab_node.gpu_works
    assert "nvidia" not in lab_node.read("proc/modules")


def test_the_lost_gpu_comes_back_with_the_old_kernel(lab_node):
    lab_node.install_module()
    lab_node.install_kernel("6.12.117")
    lab_node.boot()
    lab_node.write("etc/default/grub.d/goldnode.cfg", "GRUB_TOP_LEVEL=/boot/vmlinuz-6.12.107+deb13-amd64\n")
    lab_node.update_grub()
    lab_node.boot()
    assert lab_node.gpu_works


def test_nouveau_that_nothing_blocks_takes_the_gpu(lab_node):
    lab_node.install_module()
    (lab_node.root / "usr/lib/modprobe.d/nouveau.conf").unlink()
    lab_node.boot()
    assert not lab_node.gpu_works
    driver = next((lab_node.node.pci / "devices").glob("*/driver"))
    assert os.readlink(driver).endswith("/nouveau")
    assert "obtained ownership of the NVIDIA device(s): nouveau" in lab_node.read("kernel.log")


def test_vfio_takes_the_gpus_whose_id_its_options_name(lab_node):
    lab_node.install_module()
    lab_node.write("etc/modprobe.d/vfio.conf", "options vfio-pci ids=10de:2236,10de:1aef\n")
    lab_node.boot()
    assert not lab_node.gpu_works
    assert os.readlink(next((lab_node.node.pci / "devices").glob("*/driver"))).endswith("/vfio-pci")
    assert "vfio_pci: add [10de:2236" in lab_node.read("kernel.log")


def test_vfio_leaves_gpus_of_another_id(lab_node):
    lab_node.install_module()
    lab_node.write("etc/modprobe.d/vfio.conf", "options vfio-pci ids=10de:20b2\n")
    lab_node.boot()
    assert lab_node.gpu_works


def test_an_absent_gpu_is_not_on_the_bus_and_the_others_keep_their_numbers(lab_node):
    lab_node.install_module()
    lab_node.hardware("h100x8")
    profile = json.loads((lab_node.root / "etc/goldnode-lab/profile.yml").read_text())
    lab_node.write("etc/goldnode-lab/profile.yml", json.dumps({**profile, "absent": [3]}))
    lab_node.boot()
    assert sorted(name for name in lab_node.device_nodes if re.fullmatch(r"nvidia\d", name)) == [f"nvidia{minor}" for minor in range(8) if minor != 3]


def test_a_major_that_the_machine_uses_is_not_given_out_again(lab_node):
    lab_node.install_module()
    lab_node.write("proc/devices", "Character devices:\n  1 mem\n" + "".join(f"{major} used\n" for major in range(501, 512)) + "\nBlock devices:\n500 nbd\n")
    for _boot in range(3):
        lab_node.boot()
        assert lab_node.device_nodes["nvidia-uvm"] == (500, 0)


def test_nouveau_may_be_blocked_on_the_command_line(lab_node):
    lab_node.install_module()
    (lab_node.root / "usr/lib/modprobe.d/nouveau.conf").unlink()
    lab_node.write("etc/default/grub", 'GRUB_CMDLINE_LINUX="modprobe.blacklist=nouveau"\n')
    lab_node.update_grub()
    lab_node.boot()
    assert lab_node.gpu_works


def test_an_empty_file_in_etc_undoes_the_package_s_blacklist(lab_node):
    lab_node.write("etc/modprobe.d/nouveau.conf", "")
    lab_node.boot()
    assert lab_node.read("proc/modules").startswith("nouveau ")


def test_a_machine_without_gpu_loads_nothing(lab_node):
    lab_node.install_module()
    lab_node.hardware("none")
    lab_node.boot()
    assert not lab_node.gpu_works
    assert "nvidia" not in lab_node.read("kernel.log")


def test_a_missing_profile_is_a_machine_without_gpu(lab_node):
    lab_node.install_module()
    (lab_node.root / "etc/goldnode-lab/profile.yml").unlink()
    lab_node.boot()
    assert not lab_node.gpu_works


@pytest.mark.parametrize(
    ("profile", "driver", "license", "words"),
    [
        ("p4", "580.159.03", "Dual MIT/GPL", "not supported by open nvidia.ko"),
        ("b200x8", "580.159.03", "NVIDIA", "requires use of the NVIDIA open kernel modules"),
        ("b200x8", OLD_DRIVER, "Dual MIT/GPL", "not supported by the NVIDIA 550.163.01 driver release"),
    ],
)
def test_a_driver_that_does_not_know_the_gpu_says_so_and_is_not_there(lab_node, profile, driver, license, words):
    lab_node.hardware(profile)
    lab_node.install_module(driver=driver, license=license)
    lab_node.boot()
    assert not lab_node.gpu_works
    assert words in lab_node.read("kernel.log")


def test_pascal_works_with_the_proprietary_modules(lab_node):
    lab_node.hardware("p100")
    lab_node.install_module(license="NVIDIA")
    lab_node.boot()
    assert lab_node.gpu_works
    assert "module license 'NVIDIA' taints kernel" in lab_node.read("kernel.log")


def test_open_modules_without_their_firmware_serve_no_gpu(lab_node):
    lab_node.install_module()
    (lab_node.root / "usr/lib/firmware/nvidia/580.159.03/gsp_ga10x.bin").unlink()
    lab_node.boot()
    assert list(lab_node.node.driver.glob("gpus/*")) == []
    assert "RmFetchGspRmImages: No firmware image found" in lab_node.read("kernel.log")


def test_uvm_gets_another_major_after_some_boots_and_devices_says_which(lab_node):
    lab_node.install_module()
    majors = set()
    for _ in range(8):
        lab_node.boot()
        majors.add(lab_node.device_nodes["nvidia-uvm"][0])
        assert f"{lab_node.device_nodes['nvidia-uvm'][0]} nvidia-uvm\n" in lab_node.read("proc/devices")
    assert len(majors) > 1


def test_a_soft_reboot_changes_nothing(lab_node):
    lab_node.install_module()
    lab_node.boot()
    lab_node.install_kernel("6.12.117")
    boot.main(["--root", str(lab_node.root), "--boot"])
    assert lab_node.read("proc/sys/kernel/osrelease") == "6.12.107+deb13-amd64\n"
    assert lab_node.gpu_works


def test_no_menu_entry_is_a_machine_that_does_not_boot(lab_node):
    lab_node.write("boot/grub/grub.cfg", "# empty\n")
    with pytest.raises(SystemExit, match="would not boot"):
        lab_node.boot()


def test_a_menu_entry_without_its_kernel_is_a_machine_that_does_not_boot(lab_node):
    (lab_node.root / "boot/vmlinuz-6.12.107+deb13-amd64").unlink()
    with pytest.raises(SystemExit, match="not found"):
        lab_node.boot()


def test_loading_later_needs_no_boot(lab_node):
    lab_node.boot()
    lab_node.install_module()
    boot.main(["--root", str(lab_node.root)])
    assert lab_node.gpu_works


def test_loading_later_says_why_it_fails_and_logs_it(lab_node):
    lab_node.boot()
    lab_node.install_module(checksum=0x12)
    with pytest.raises(SystemExit, match="could not insert 'nvidia'"):
        boot.main(["--root", str(lab_node.root)])
    assert BAD_LAYOUT in lab_node.read("kernel.log")


def test_loading_again_makes_missing_device_nodes(lab_node):
    lab_node.install_module()
    lab_node.boot()
    before = dict(lab_node.device_nodes)
    (lab_node.root / "dev/nvidia0").unlink()
    lab_node.device_nodes.clear()
    boot.main(["--root", str(lab_node.root)])
    assert lab_node.device_nodes == {"nvidia0": before["nvidia0"]}


def test_unloading_takes_away_what_the_driver_showed(lab_node):
    lab_node.install_module()
    lab_node.boot()
    boot.main(["--root", str(lab_node.root), "--unload"])
    assert not lab_node.node.driver.exists()
    assert "nvidia" not in lab_node.read("proc/modules") + lab_node.read("proc/devices")


def test_module_parameters_of_modprobe_d_are_shown_and_count(lab_node):
    lab_node.write("etc/modprobe.d/mode.conf", "options nvidia NVreg_DeviceFileMode=0x1b0\n")
    lab_node.install_module()
    lab_node.boot()
    assert "DeviceFileMode: 432\n" in lab_node.read("proc/driver/nvidia/params")
    assert (lab_node.root / "dev/nvidia0").stat().st_mode & 0o777 == 0o660


def tell_mig(lab_node, mode, pending, *numbers):
    instances = [{"gpu_instance": one, "compute_instance": 0, "profile": "3g.40gb", "memory_mib": 40192, "start": 0, "size": 4} for one in numbers]
    boot.keep_mig(lab_node.node, 0, mode, pending, instances)


def caps_of(lab_node):
    return {int(path.name.removeprefix("nvidia-cap")) for path in (lab_node.root / "dev/nvidia-caps").iterdir()}


def mig_facts(lab_node):
    facts = min((lab_node.node.driver / "gpus").iterdir()) / "goldnode"
    return boot.fields(facts.read_text())


def test_mig_slices_have_capability_nodes_by_the_driver_s_table(lab_node):
    lab_node.hardware("a100_mig")
    lab_node.install_module()
    lab_node.boot()
    tell_mig(lab_node, "Enabled", "Enabled", 1, 2)
    assert caps_of(lab_node) == {1, 2, 12, 13, 21, 22}
    assert "gpu0/gi2/ci0/access 22\n" in lab_node.read("proc/driver/nvidia-caps/mig-minors")
    tell_mig(lab_node, "Enabled", "Enabled", 2)
    assert caps_of(lab_node) == {1, 2, 21, 22}
    assert mig_facts(lab_node)["MIG 0"].startswith("2 0 22 ")
    assert "MIG 1" not in mig_facts(lab_node)


@pytest.mark.parametrize(("profile", "kept"), [("a100", "Enabled"), ("h100x8", "Disabled")])
def test_a_boot_takes_the_instances_and_since_hopper_the_mode(lab_node, profile, kept):
    lab_node.hardware(profile)
    lab_node.install_module()
    lab_node.boot()
    tell_mig(lab_node, "Enabled", "Enabled", 1)
    assert "MIG 0" in mig_facts(lab_node)
    lab_node.boot()
    assert mig_facts(lab_node)["MIG Mode"] == kept
    assert "MIG 0" not in mig_facts(lab_node)


@pytest.mark.parametrize("profile", [name for name, one in PROFILES.items() if one["count"]])
def test_sysfs_has_every_gpu_of_the_profile_under_its_own_address(lab_node, profile):
    lab_node.hardware(profile)
    lab_node.boot()
    found = [path for path in (lab_node.node.pci / "devices").iterdir() if (path / "class").read_text() == "0x030200\n"]
    assert len(found) == PROFILES[profile]["count"]
    assert {(path / "device").read_text() for path in found} == {f"0x{PROFILES[profile]['device']}\n"}


@given(st.lists(st.text("abcdefgh-", min_size=1), min_size=2, max_size=6, unique=True))
def test_nodes_never_share_a_uuid(names):
    identities = [boot.gpu_identity(name, index) for name in names for index in range(8)]
    assert len({one["uuid"] for one in identities}) == len(identities)


WORD = st.text(st.characters(codec="ascii", exclude_characters="=\0", categories=["L", "N", "P"]), min_size=1)


@given(st.dictionaries(WORD, WORD), st.integers(0, 2**32 - 1))
def test_what_the_build_writes_the_boot_reads(tmp_path_factory, info, checksum):
    path = tmp_path_factory.mktemp("module") / "x.ko"
    path.write_bytes(build_module.module_object(info.items(), checksum))
    assert boot.read_module(path) == (info, checksum)


@given(st.binary(max_size=200))
def test_no_bytes_are_taken_for_a_module_by_accident(tmp_path_factory, blob):
    path = tmp_path_factory.mktemp("module") / "x.ko"
    path.write_bytes(b"\x7fELF" + blob)
    with pytest.raises(boot.RefusedError):
        boot.read_module(path)
