"""Every wording that the kernel's and the distribution's tools have had."""

from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import DkmsModule


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # lspci -nnk of pciutils 3.9, with and without domain and names
        (
            "01:00.0 3D controller [0302]: NVIDIA GA102GL [A10] [10de:2236] (rev a1)",
            ("0000:01:00.0", "0302", "10de:2236", "NVIDIA GA102GL [A10]"),
        ),
        (
            "0001:0f:00.0 VGA compatible controller [0300]: NVIDIA Device [10de:2901]",
            ("0001:0f:00.0", "0300", "10de:2901", "NVIDIA Device"),
        ),
        ("0000:17:00.0 [0302]: [10de:2236]", ("0000:17:00.0", "0302", "10de:2236", "")),
    ],
)
def test_pci_devices_are_read_with_and_without_names(line, expected):
    (device,) = linux.pci_devices(line + "\n\tSubsystem: x\n\tKernel driver in use: vfio-pci\n\tKernel modules: nouveau\n")
    assert (device.address, device.kind, device.identifier, device.name) == expected
    assert device.driver == "vfio-pci"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nvidia, 535.98, 6.4.6-76060406-generic, x86_64: installed", DkmsModule("nvidia", "535.98", "6.4.6-76060406-generic", "installed")),
        ("nvidia/550.163.01, 6.12.107+deb13-amd64, x86_64: installed", DkmsModule("nvidia", "550.163.01", "6.12.107+deb13-amd64", "installed")),
        ("nvidia-current/550.163.01, 6.12.1, x86_64: installed (Original modules exist)", DkmsModule("nvidia-current", "550.163.01", "6.12.1", "installed")),
        ("nvidia/550.163.01: added", DkmsModule("nvidia", "550.163.01", None, "added")),
        ("nvidia, 470.82: added", DkmsModule("nvidia", "470.82", None, "added")),
    ],
)
def test_dkms_status_of_versions_2_and_3_is_read(line, expected):
    assert linux.dkms(line) == (expected,)


def test_dpkg_rows_tell_version_hold_and_half_removed_packages():
    found = linux.packages("hi  libcuda1:amd64 550.163.01-2 amd64 NVIDIA CUDA library\nrc  nvidia-smi 535.1-1 amd64\nii  bash 5.2 amd64\n||/ Name Version\n")
    assert [(name, package.version, package.installed, package.held) for name, package in found.items()] == [
        ("libcuda1", "550.163.01-2", True, True),
        ("nvidia-smi", "535.1-1", False, False),
        ("bash", "5.2", True, False),
    ]


def test_device_nodes_tell_kind_mode_and_numbers():
    found = linux.device_nodes("crw-rw---- 1 root video 195, 255 Nov 30 20:00 /dev/nvidiactl\n-rw-r--r-- 1 0 0 5 Nov 30 20:00 /dev/nvidia0\n")
    node = found["/dev/nvidiactl"]
    assert (node.kind, node.mode, node.major, node.minor) == ("c", 0o660, 195, 255)
    assert (found["/dev/nvidia0"].kind, found["/dev/nvidia0"].major) == ("-", None)


ENTRIES = "menuentry 'a' {\n\tlinux\t/boot/vmlinuz-6.12.1-amd64 root=x\n}\nmenuentry 'b' {\n\tlinux /vmlinuz-6.12.2-amd64 root=x\n}\n"

BOOT = "# /boot was on vda1\nUUID=f00 /boot ext4 {} 0 2\n"
MOUNTED = "/dev/vda2 / ext4 rw 0 0\n/dev/vda1 /boot ext4 rw 0 0\n"


@pytest.mark.parametrize(
    ("fstab", "mounts", "lacks"),
    [
        (BOOT.format("defaults"), MOUNTED, False),
        (BOOT.format("defaults"), "/dev/vda2 / ext4 rw 0 0\n/dev/vda3 /boot/efi vfat rw 0 0\n", True),
        (BOOT.format("rw,noauto"), "", False),
        ("#UUID=f00 /boot ext4 defaults 0 2\nUUID=f01 /boot/efi vfat defaults 0 1\n", "", False),
        ("", "", False),
    ],
)
def test_a_file_system_that_fstab_wants_and_nobody_mounted_is_missed(fstab, mounts, lacks):
    assert linux.lacks_mount(fstab, mounts, "/boot") is lacks


NEXT = 'if [ "${next_entry}" ] ; then\n   set default="${next_entry}"\n   set next_entry=\nelse\n   set default="${saved_entry}"\nfi\n'


def _entry(title: str, identity: str, release: str, arguments: str = "ro quiet") -> str:
    """An entry as 10_linux of GRUB 2.06 writes it (Debian 12)."""
    return (
        f"menuentry '{title}' --class debian --class os $menuentry_id_option '{identity}-f00' {{\n"
        f"\tif [ x$grub_platform = xxen ]; then insmod xzio; fi\n\techo 'Loading Linux {release} ...'\n"
        f"\tlinux\t/boot/vmlinuz-{release} root=UUID=f00 {arguments}\n\tinitrd\t/boot/initrd.img-{release}\n}}\n"
    )


NAME, NEW, OLD = "Debian GNU/Linux", "6.1.0-44-amd64", "6.1.0-40-amd64"
SUBMENU = (
    "function gfxmode {\n\tset gfxpayload=keep\n}\n"
    + _entry(NAME, "gnulinux-simple", NEW)
    + f"submenu 'Advanced options for {NAME}' $menuentry_id_option 'gnulinux-advanced-f00' {{\n"
    + _entry(f"{NAME}, with Linux {NEW}", f"gnulinux-{NEW}-advanced", NEW)
    + _entry(f"{NAME}, with Linux {NEW} (recovery mode)", f"gnulinux-{NEW}-recovery", NEW, "ro single")
    + _entry(f"{NAME}, with Linux {OLD}", f"gnulinux-{OLD}-advanced", OLD)
    + "}\nmenuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {\n\tfwsetup\n}\n"
)


@pytest.mark.parametrize(
    ("grub", "release", "choice"),
    [
        (SUBMENU, NEW, f"gnulinux-advanced-f00>gnulinux-{NEW}-advanced-f00"),
        (SUBMENU, OLD, f"gnulinux-advanced-f00>gnulinux-{OLD}-advanced-f00"),
        (SUBMENU, "6.1.0-4", None),
        (_entry(NAME, "gnulinux-simple", NEW), NEW, None),
        (_entry(f"{NAME}, with Linux {NEW} (recovery mode)", f"gnulinux-{NEW}-recovery", NEW, "ro single"), NEW, None),
        (f"menuentry 'a > b {NEW}' {{\n\tlinux /vmlinuz-{NEW}\n}}\n", NEW, f"a >> b {NEW}"),
        (SUBMENU[: SUBMENU.index(f"with Linux {OLD}") + 60], OLD, None),
        ("", NEW, None),
    ],
)
def test_a_kernel_is_chosen_by_an_entry_that_is_bound_to_it(grub, release, choice):
    assert linux.menu_choice(grub, release) == choice


@pytest.mark.parametrize("release", [NEW, OLD, "6.1.0-99-amd64"])
def test_the_choice_works_in_a_menu_that_grub_2_06_wrote(release):
    menu = (Path(__file__).parents[4] / "fixtures/grub/debian_12.cfg").read_text()
    assert linux.default_kernel(f'set default="{linux.menu_choice(menu, release)}"\n' + menu, None) == release
    assert linux.default_kernel(menu, None) == "6.1.0-99-amd64"


@pytest.mark.parametrize("release", [NEW, OLD])
def test_a_choice_holds_when_a_newer_kernel_comes(release):
    newer = SUBMENU.replace(_entry(NAME, "gnulinux-simple", NEW), _entry(NAME, "gnulinux-simple", "6.1.0-99-amd64"))
    assert linux.default_kernel(f'set default="{linux.menu_choice(SUBMENU, release)}"\n' + newer, None) == release


@pytest.mark.parametrize(
    ("grub", "grubenv", "release"),
    [
        (ENTRIES, None, "6.12.1-amd64"),
        ('set default="1"\n' + ENTRIES, None, "6.12.2-amd64"),
        ('if [ x ] ; then\n  set default="${next_entry}"\nelse\n  set default="0"\nfi\n' + ENTRIES, None, "6.12.1-amd64"),
        ('set default="${saved_entry}"\n' + ENTRIES, "# GRUB Environment Block\nsaved_entry=1\n", "6.12.2-amd64"),
        ('set default="${saved_entry}"\n' + ENTRIES, None, "6.12.1-amd64"),
        ('set default="gnulinux-advanced>x"\n' + ENTRIES, None, "6.12.1-amd64"),
        ('set default="7"\n' + ENTRIES, None, "6.12.1-amd64"),
        ('set default="b"\n' + ENTRIES, None, "6.12.2-amd64"),
        (NEXT + ENTRIES, "saved_entry=0\nnext_entry=1\n", "6.12.2-amd64"),
        (NEXT + ENTRIES, "saved_entry=0\nnext_entry=\n", "6.12.1-amd64"),
        ('set default="0"\n' + ENTRIES, "next_entry=1\n", "6.12.1-amd64"),
        (SUBMENU, None, "6.1.0-44-amd64"),
        ('set default="1"\n' + SUBMENU, None, "6.1.0-44-amd64"),
        ('set default="1>2"\n' + SUBMENU, None, "6.1.0-40-amd64"),
        ('set default="gnulinux-advanced-f00>gnulinux-6.1.0-40-amd64-advanced-f00"\n' + SUBMENU, None, "6.1.0-40-amd64"),
        ('set default="Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux 6.1.0-40-amd64"\n' + SUBMENU, None, "6.1.0-40-amd64"),
        ('set default="gnulinux-6.1.0-40-amd64-advanced-f00"\n' + SUBMENU, None, "6.1.0-44-amd64"),
        ('set default="uefi-firmware"\n' + SUBMENU, None, None),
        ("/boot/vmlinuz-5.14.0-427.el9.x86_64\n", None, "5.14.0-427.el9.x86_64"),
        ("", None, None),
    ],
)
def test_the_default_kernel_is_the_one_that_the_boot_loader_will_start(grub, grubenv, release):
    assert linux.default_kernel(grub, grubenv) == release


@pytest.mark.parametrize(
    ("text", "blocked"),
    [
        ("blacklist nouveau\n", True),
        ("install nouveau /bin/false", True),
        ("# blacklist nouveau\n", False),
        ("blacklist nouveaux\n", False),
        ("alias x", False),
    ],
)
def test_only_a_real_block_keeps_nouveau_out(text, blocked):
    assert linux.blocks(text, "nouveau") is blocked


def test_systemd_time_is_seconds_since_the_epoch_and_nothing_when_never_started():
    assert linux.systemd_time("Mon 2026-11-30 20:53:20 UTC") == 1796072000
    assert linux.systemd_time("") is None
