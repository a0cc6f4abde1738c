"""The order of its steps, on a node of a few programs: what is asked, what is changed, and what is refused before."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import nvidia_driver
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from ansible_collections.goldnode.gpu.plugins.modules import nvidia_module

from tests.unit.plugins.module_utils.test_secure_boot import CERTIFICATE, SERIAL

VERSION, KERNEL = "580.159.03", "6.12.107+deb13-amd64"
LOADED = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build\n"


class Module:
    """An AnsibleModule whose programs change a node in memory."""

    def __init__(self, procfs, **params):
        defaults = {
            "version": VERSION,
            "kernel": KERNEL,
            "build": "dkms",
            "modules": "open",
            "state": "loaded",
            "options": {},
            "certificate": None,
            "secure_boot": False,
            "distribution": "debian",
            "services": [],
            "probe_args": ["--procfs", str(procfs)],
        }
        self.params = {**defaults, **params}
        self.procfs, self.calls = procfs, []
        self.on_disk = {"version": VERSION, "license": "Dual MIT/GPL", "vermagic": f"{KERNEL} SMP"}
        self.signs_with = None
        self.answer = ""

    def run_command(self, argv):
        self.calls.append(" ".join(argv))
        if argv[0] == "modinfo":
            known = argv[-1] == "nvidia" and self.on_disk
            return (0 if known else 1), "".join(f"{key}: {value}\n" for key, value in self.on_disk.items()) if known else "", ""
        if argv[:2] == ["dkms", "status"]:
            return 0, f"nvidia/{VERSION}, {KERNEL}, x86_64: installed\n", ""
        if argv[:2] == ["dkms", "install"] or (argv[:2] == ["dkms", "autoinstall"] and not self.on_disk):
            self.on_disk = {"version": VERSION, "license": "Dual MIT/GPL", "vermagic": f"{KERNEL} SMP", **(self.signs_with or {})}
        if argv[0] == "nvidia-modprobe":
            self.shows(VERSION)
        if argv[:2] == ["modprobe", "--remove"]:
            (self.procfs / "driver/nvidia/version").unlink(missing_ok=True)
        return (3 if "is-active" in argv else 0), self.answer if argv[0] == "mokutil" else "", ""

    def shows(self, version, params="DeviceFileMode: 438\n"):
        (self.procfs / "driver/nvidia").mkdir(parents=True, exist_ok=True)
        (self.procfs / "driver/nvidia/version").write_text(LOADED.format(version))
        (self.procfs / "driver/nvidia/params").write_text(params)


@pytest.fixture
def node(tmp_path, monkeypatch):
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/osrelease").write_text(f"{KERNEL}\n")
    (tmp_path / "modules").write_text("nvidia 1 0\n")
    monkeypatch.setattr(nvidia_driver, "holders", lambda but: [])
    monkeypatch.setattr(nvidia_driver.shutil, "which", lambda name: name)
    return lambda **params: Module(tmp_path, **params)


def settle(module, check_mode=False):
    return nvidia_module.settle(nvidia_driver.Driver(module.run_command, module.params), check_mode)


def changes(module):
    return [call for call in module.calls if not call.startswith(("modinfo", "dkms status", "systemctl is-active"))]


def test_what_is_loaded_is_left_alone(node):
    module = node()
    module.shows(VERSION)
    result = settle(module)
    assert (result["changed"], result["reboot_required"], result["settled"]) == (False, False, True)
    assert changes(module) == []


def test_another_version_is_unloaded_and_the_pinned_one_loaded(node):
    module = node()
    module.shows("550.163.01")
    result = settle(module)
    assert (result["changed"], result["reboot_required"], result["loaded_version"]) == (True, False, VERSION)
    assert changes(module) == ["modprobe --remove nvidia", "nvidia-modprobe"]


def test_a_module_in_use_is_not_unloaded_and_its_user_is_named(node, monkeypatch):
    monkeypatch.setattr(nvidia_driver, "holders", lambda but: ["python3 (7)"])
    module = node()
    module.shows("550.163.01")
    result = settle(module)
    assert (result["changed"], result["reboot_required"], result["holders"]) == (False, True, "python3 (7)")
    assert changes(module) == []


def test_an_option_that_is_not_in_effect_needs_the_module_loaded_anew(node):
    module = node(options={"NVreg_DeviceFileMode": 432})
    module.shows(VERSION)
    result = settle(module)
    assert "modprobe --remove nvidia" in module.calls
    assert (result["reboot_required"], result["ineffective"]) == (True, "NVreg_DeviceFileMode=438")


def test_an_option_that_the_module_lacks_is_refused_before_it_is_loaded(node):
    module = node(options={"NVreg_DeviceFilemode": 432})
    module.on_disk["parm"] = "          NVreg_DeviceFileMode:int"
    with pytest.raises(RefusedError, match="has no option NVreg_DeviceFilemode"):
        settle(module)
    assert changes(module) == []


def test_on_another_kernel_only_a_reboot_helps(node):
    module = node(kernel="6.12.117+deb13-amd64")
    module.on_disk["vermagic"] = "6.12.117+deb13-amd64 SMP"
    assert settle(module)["reboot_required"] is True
    assert changes(module) == []


def test_a_missing_module_is_built(node):
    module = node(state="built")
    module.on_disk = {}
    assert settle(module)["changed"] is True
    assert changes(module) == [f"dkms autoinstall --kernelver {KERNEL}"]


def test_check_mode_builds_and_loads_nothing(node):
    module = node()
    module.on_disk = {}
    result = settle(module, check_mode=True)
    assert (result["changed"], result["flaw"]) == (True, "there is none")
    assert changes(module) == []


def test_a_module_that_was_not_signed_is_built_anew_with_the_key(node, tmp_path):
    (tmp_path / "c.der").write_bytes(CERTIFICATE)
    module = node(state="built", certificate=str(tmp_path / "c.der"))
    module.signs_with = {"signer": "site", "sig_key": SERIAL}
    assert settle(module)["signer"] == "site"
    assert changes(module)[1:] == [f"dkms unbuild nvidia/{VERSION} -k {KERNEL}", f"dkms install nvidia/{VERSION} -k {KERNEL}"]


def test_a_key_that_did_not_sign_is_told(node, tmp_path):
    (tmp_path / "c.der").write_bytes(CERTIFICATE)
    with pytest.raises(RefusedError, match=r"no proven NVIDIA module .* signed by nobody.*; mend that and run it again"):
        settle(node(state="built", certificate=str(tmp_path / "c.der")))


def test_a_pem_certificate_is_refused_with_the_command_that_converts_it(node, tmp_path):
    (tmp_path / "c.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    with pytest.raises(RefusedError, match="openssl x509 -in"):
        settle(node(certificate=str(tmp_path / "c.pem")))


def test_a_prebuilt_module_of_another_kernel_is_refused(node):
    module = node(build="prebuilt")
    module.on_disk["vermagic"] = "6.12.99 SMP"
    with pytest.raises(RefusedError, match=r"built for kernel 6.12.99\): its package brings no module of exactly this kernel"):
        settle(module)
    assert changes(module) == []


@pytest.mark.parametrize(("answer", "loaded"), [("/c is already enrolled\n", True), ("/c is not enrolled\n", False)])
def test_under_secure_boot_only_an_enrolled_key_gets_its_module_loaded(node, tmp_path, answer, loaded):
    (tmp_path / "c.der").write_bytes(CERTIFICATE)
    module = node(certificate=str(tmp_path / "c.der"), secure_boot=True)
    module.on_disk.update(signer="site", sig_key=SERIAL)
    module.answer = answer
    if loaded:
        assert settle(module)["settled"] is True
    else:
        with pytest.raises(RefusedError, match=r"was not loaded: .* mokutil --import"):
            settle(module)
        assert "nvidia-modprobe" not in module.calls


def test_under_secure_boot_mokutil_must_be_there(node, tmp_path, monkeypatch):
    monkeypatch.setattr(nvidia_driver.shutil, "which", lambda _name: None)
    (tmp_path / "c.der").write_bytes(CERTIFICATE)
    module = node(certificate=str(tmp_path / "c.der"), secure_boot=True)
    module.on_disk.update(signer="site", sig_key=SERIAL)
    with pytest.raises(RefusedError, match="install mokutil"):
        settle(module)
