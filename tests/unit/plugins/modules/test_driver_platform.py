import pytest
from ansible_collections.goldnode.gpu.plugins.modules import driver_platform

KERNEL = "6.12.107+deb13-amd64"
STACK = {
    "pins": {"os": {"distribution": "debian"}, "kernel": {"version": KERNEL}, "nvidia_driver": {"version": "580.159.03", "modules": "open", "build": "dkms"}},
    "packages": [{"name": "libcuda1", "layer": "driver"}],
}


class Module:
    """An AnsibleModule on a node below a folder, whose packages own the files that are named."""

    def __init__(self, root, *, packages="", owned=(), check_mode=False, **params):
        defaults = {"stack": STACK, "module_options": {}, "signed": False, "drained": False, "persistence": True, "offline": False}
        self.params = {**defaults, "probe_args": ["--sysfs", str(root / "sys"), "--procfs", str(root / "proc")], **params}
        self.check_mode, self.packages, self.owned, self.asked = check_mode, packages, owned, set()

    def run_command(self, argv):
        self.asked.add(argv[0])
        if argv[1] in ("--search", "-qf"):
            return (0 if argv[-1].endswith(tuple(self.owned) or "\0") else 1), "", ""
        return 0, self.packages, ""


@pytest.fixture
def root(tmp_path):
    """A node with an A10 and the headers of the locked kernel."""
    write(tmp_path / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
    write(tmp_path / "sys/bus/pci/devices/0000:01:00.0/device", "0x2236\n")
    write(tmp_path / "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n")
    (tmp_path / f"lib/modules/{KERNEL}/build").mkdir(parents=True)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def reason(root, secure=False, **params):
    node = driver_platform.Node(Module(root, **params), root)
    return next((one for one in driver_platform.objections(node, secure) if one), None)


def test_a_node_that_fits_is_taken(root):
    assert reason(root) is None


def test_a_gpu_that_the_driver_does_not_serve_is_read_from_the_bus(root):
    write(root / "sys/bus/pci/devices/0000:01:00.0/device", "0x1bb3\n")
    assert "Tesla P4 (Pascal, 10de:1bb3)" in reason(root)
    assert reason(root, offline=True) is None


def test_files_of_no_package_are_the_installer_s_and_links_are_not(root):
    library = root / "usr/lib/x86_64-linux-gnu/libcuda.so.570.124.06"
    write(library, "")
    library.with_name("libcuda.so.9.9").symlink_to("/elsewhere")
    assert f"({library}: of no package)" in reason(root)
    assert reason(root, owned=["libcuda.so.570.124.06"]) is None


@pytest.mark.parametrize(("distribution", "program"), [("ubuntu", "dpkg-query"), ("rocky", "rpm"), ("amazon", "rpm")])
def test_packages_are_asked_of_the_distribution_s_own_manager(root, distribution, program):
    write(root / "usr/bin/nvidia-smi", "")
    stack = {**STACK, "pins": {**STACK["pins"], "os": {"distribution": distribution}}}
    module = Module(root, stack=stack, owned=["nvidia-smi"])
    assert not any(driver_platform.objections(driver_platform.Node(module, root), False))
    assert module.asked == {program}


def test_an_uninstaller_tells_the_way_out(root):
    write(root / "usr/bin/nvidia-uninstall", "")
    assert "nvidia-uninstall --silent" in reason(root)


def test_the_former_lock_s_packages_are_not_foreign(root):
    listing = "ii  nvidia-utils-550-server 550.163.01-1 amd64\n"
    assert "apt-get purge nvidia-utils-550-server" in reason(root, packages=listing)
    write(root / "etc/apt/preferences.d/goldnode-driver", "Package: nvidia-utils-550-server\nPin: version 550.163.01-1\nPin-Priority: 1001\n")
    assert reason(root, packages=listing) is None


def test_a_process_that_uses_a_gpu_under_another_driver_is_named(root, monkeypatch):
    monkeypatch.setattr(driver_platform, "holders", lambda but: ["python3 (7)"])
    assert reason(root) is None
    write(root / "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025\n")
    assert "in use by python3 (7)" in reason(root)
    assert reason(root, drained=True) is None
    assert reason(root, offline=True) is None


def test_another_file_of_modprobe_d_is_read(root):
    write(root / "usr/lib/modprobe.d/vendor.conf", "options nvidia NVreg_EnableMSI=0\n")
    assert "vendor.conf sets NVreg_EnableMSI=0" in reason(root, module_options={"NVreg_EnableMSI": 1})


@pytest.mark.parametrize(("signed", "build", "refused"), [(False, "dkms", True), (True, "dkms", False), (False, "prebuilt", False)])
def test_secure_boot_wants_a_key_for_what_is_built_here(root, signed, build, refused):
    stack = {**STACK, "pins": {**STACK["pins"], "nvidia_driver": {**STACK["pins"]["nvidia_driver"], "build": build}}}
    found = reason(root, secure=True, signed=signed, stack=stack)
    assert (found is not None and "nvidia_driver_signing_key" in found) is refused


def test_without_headers_dkms_is_not_tried_but_check_mode_goes_on(root):
    (root / f"lib/modules/{KERNEL}/build").rmdir()
    assert f"there are no headers of kernel {KERNEL}" in reason(root)
    assert reason(root, check_mode=True) is None
