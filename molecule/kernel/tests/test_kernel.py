"""The node went from the pool's lock to a lock with a newer kernel (side_effect.yml)."""

FALLBACK, NEWER = "6.12.107+deb13-amd64", "6.12.117+deb13-amd64"


def test_every_locked_package_is_installed_at_its_version_and_held(deviations, variant_lock):
    assert deviations(variant_lock, "kernel") == []


def test_the_locked_kernel_runs(kernel_says):
    assert kernel_says("sys/kernel/osrelease") == NEWER


def test_the_locked_kernel_is_the_first_of_the_boot_menu(host):
    assert f"vmlinuz-{NEWER} " in host.check_output("grep --max-count=1 vmlinuz- /boot/grub/grub.cfg")


def test_the_former_kernel_stays_as_a_fallback(host):
    assert host.file(f"/boot/vmlinuz-{FALLBACK}").exists
    assert host.package(f"linux-image-{FALLBACK}").is_installed


def test_no_other_kernel_can_come_in(host):
    assert "Candidate: (none)" in host.check_output("apt-cache policy linux-image-amd64")
    assert host.run("apt-get install --simulate linux-image-amd64").rc == 100


def test_an_upgrade_moves_nothing(host):
    assert "0 upgraded, 0 newly installed, 0 to remove" in host.check_output("apt-get --simulate full-upgrade")


def test_the_former_kernel_is_not_removed_as_superfluous(host):
    assert f"Remv linux-image-{FALLBACK}" not in host.check_output("apt-get --simulate autoremove")
    host.check_output(f"apt-mark auto linux-image-{FALLBACK}")
    assert f"Remv linux-image-{FALLBACK}" not in host.check_output("apt-get --simulate autoremove")


def test_the_boot_menu_written_again_by_another_starts_the_locked_kernel(host):
    host.check_output("update-grub")
    assert f"vmlinuz-{NEWER} " in host.check_output("grep --max-count=1 vmlinuz- /boot/grub/grub.cfg")
    assert f"vmlinuz-{FALLBACK} " in host.file("/boot/grub/grub.cfg").content_string
