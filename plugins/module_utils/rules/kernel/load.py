# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How the kernel takes a module that was built: signature, match with the kernel, symbols, blocks, branch tracking."""

from __future__ import annotations

import re
from functools import partial

from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import module_load
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel.loaded import is_loaded
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule, unknown

_load_rule = partial(rule, layer=KERNEL)
SIGN = (
    "Use signed precompiled modules of the distribution (linux-modules-nvidia-…), or sign the modules with a key of your own and enrol it as MOK "
    "(mokutil --import, reboot, confirm), or switch Secure Boot off in the firmware, VM or node pool."
)
# Which module of the kernel brings a symbol, by the symbol's beginning.
PROVIDERS = {
    "ipmi_": "ipmi_devintf",
    "drm_": "drm_kms_helper",
    "i2c_": "i2c_core",
    "acpi_video": "video",
    "backlight_": "backlight",
    "vfio_": "vfio",
    "mdev_": "mdev",
}


def plain(message: Message) -> str:
    """The line without the log's time."""
    return re.sub(r"^(?:<\d+>)?\[[ \d.]+\] *", "", message.text)


def _nothing_said(facts: Facts) -> Outcome:
    """No line of this kind: it passes if the module is loaded, or if the log of its loading is whole."""
    if is_loaded(facts) or facts.bundle.complete("dmesg"):
        return passed()
    return unknown()


@_load_rule(
    "kernel.module_signature",
    probes=("dmesg", "mokutil_sb_state", "modinfo_nvidia", "lsmod"),
    symptom=(
        "'Loading of unsigned module is rejected', 'Key was rejected by service', 'Required key not available', 'Lockdown: modprobe: unsigned module loading "
        "is restricted'; nvidia-installer only guesses at gcc and nouveau."
    ),
    cause="The kernel enforces module signatures (Secure Boot, lockdown), and the nvidia module is not signed by a key that it trusts.",
    fix=SIGN,
    verify="modinfo -F signer nvidia names a key of mokutil --list-enrolled (or of the kernel), and modprobe nvidia is silent.",
    source=(
        "Linux kernel/module/signing.c, kernel_lockdown(7); NVIDIA/gpu-operator #1726, bottlerocket-os/bottlerocket #4218; harmless: the taint line "
        "'module verification failed: signature and/or required key missing'"
    ),
)
def module_signature(facts: Facts, wanted: Wanted) -> Outcome:
    """The kernel accepts the module's signature"""
    if is_loaded(facts):
        taint = facts.load_said(module_load.TAINT)
        return passed("the module is loaded", cause="The line 'module verification failed' only taints the kernel: the module is loaded." if taint else "")
    refused = facts.load_said(module_load.UNSIGNED)
    if refused:
        return _refused(facts, refused[0])
    denied = facts.load_said(module_load.NOT_PERMITTED)
    if denied:
        return _not_permitted(facts, denied[0])
    distrusted = _distrusted(facts)
    if distrusted and is_loaded(facts) is False:
        return _refused(facts, Message("modinfo_nvidia", distrusted), "medium")
    return _nothing_said(facts)


def _distrusted(facts: Facts) -> str:
    """What makes Secure Boot refuse the module, by the file's own words and the list of enrolled keys, or because DKMS built it here."""
    if not facts.secure_boot:
        return ""
    if facts.module_on_disk is None:
        built = [module for module in facts.dkms_modules or () if module.name.startswith("nvidia") and module.kernel == facts.kernel_release]
        return f"Secure Boot enabled, and {built[0].name}/{built[0].version} was built by DKMS on this node" if built and facts.kernel_release else ""
    signer, enrolled = facts.module_on_disk.get("signer"), facts.bundle.text("mok_list")
    if not facts.module_on_disk or signer:
        return (
            f"Secure Boot enabled, and the module's signer '{signer}' is not among the enrolled keys" if signer and enrolled and signer not in enrolled else ""
        )
    return "Secure Boot enabled, and modinfo nvidia names no signer"


def _refused(facts: Facts, message: Message, confidence: str = "high") -> Outcome:
    on = "Secure Boot is on, so the" if facts.secure_boot else "The"
    cause = (
        f"{on} kernel {facts.kernel_release or ''} enforces module signatures (Secure Boot, lockdown or module.sig_enforce), and the nvidia module is unsigned "
        f"or not signed with a key that it trusts: {plain(message)}."
    )
    return failed("a module signed by a trusted key", plain(message), cause=re.sub(" +", " ", cause), remedy=SIGN, confidence=confidence)


def _not_permitted(facts: Facts, message: Message) -> Outcome:
    """EPERM: lockdown where Secure Boot or the command line says so, else one of several that forbid the loading of modules."""
    line = facts.bundle.text("kernel_cmdline") or ""
    if facts.secure_boot or "sig_enforce" in line or re.search(r"\block_?down=", line):
        return _refused(facts, message)
    cause = (
        f"The kernel forbids loading the nvidia module ({plain(message)}): either module signatures are enforced (Secure Boot, lockdown) and the module is not "
        "signed by a trusted key, or loading is denied altogether (kernel.modules_disabled, SELinux, an unprivileged container)."
    )
    return failed(
        "the module may be loaded",
        plain(message),
        cause=cause,
        remedy=SIGN,
        confidence="medium",
        decided_by="mokutil --sb-state; cat /sys/kernel/security/lockdown; sysctl kernel.modules_disabled",
    )


@_load_rule(
    "kernel.module_matches_kernel",
    probes=("dmesg", "modinfo_nvidia", "lsmod"),
    symptom="modprobe: 'Exec format error', 'Invalid module format'; kernel log: 'version magic … should be …', 'disagrees about version of symbol'.",
    cause="The nvidia module was built for another kernel, or against headers that are not those of the running one.",
    fix="Remove the stale module and build it again with the running kernel's own headers: dkms remove, dkms install --force -k $(uname -r); depmod -a.",
    verify="modinfo -F vermagic nvidia begins with uname -r, and modprobe nvidia is silent.",
    source="Linux kernel/module/main.c (vermagic), version.c; negativo17/nvidia-driver #97, emergingstack/es-dev-stack #16",
)
def module_matches_kernel(facts: Facts, wanted: Wanted) -> Outcome:
    """The module is of the running kernel's build"""
    said = facts.load_said(module_load.OF_ANOTHER_BUILD)
    # Built for exactly this kernel by its own words, and refused none the less: driver.module_does_not_load tells that.
    own = bool(facts.kernel_release) and (facts.module_on_disk or {}).get("vermagic", "").split(" ")[0] == facts.kernel_release
    if said is None or is_loaded(facts) or (own and not said[1]["built"]):
        return _nothing_said(facts)
    message, match = said
    if match["built"]:
        built, runs = match["built"].split()[0], match["runs"].split()[0]
        what = f"was built for kernel {built}, and kernel {runs} runs" if built != runs else f"has another version magic ('{match['built']}') than the kernel"
    else:
        what = f"does not match the running kernel {facts.kernel_release or ''}: it was built against the headers of another build of it".replace(" :", ":")
    cause = f"The nvidia module {what} ({plain(message)})."
    remedy = (
        "Build the module again for exactly the running kernel with that kernel's own headers (dkms install --force -k $(uname "
        "-r), depmod -a; or the package of "
        "prebuilt modules for it), remove stale copies (weak-updates, extra, initramfs), or boot the kernel that it was built for."
    )
    return failed("a module built for the running kernel", plain(message), cause=cause, remedy=remedy)


@_load_rule(
    "kernel.module_symbols",
    probes=("dmesg", "lsmod"),
    symptom="modprobe or insmod: 'Unknown symbol in module'; kernel log: 'nvidia: Unknown symbol … (err -2)'.",
    cause="The nvidia module needs a symbol that the kernel does not have loaded: a module it depends on is missing.",
    fix=(
        "Load the module that brings it (ipmi_devintf, drm_kms_helper, i2c_core); install linux-modules-extra-$(uname -r) or "
        "kernel-modules-extra if it is not there."
    ),
    verify="modprobe nvidia is silent.",
    source="src-d/coreos-nvidia #3, batocera-linux/batocera.linux #7222, kubernetes-retired/kube-aws #1371",
)
def module_symbols(facts: Facts, wanted: Wanted) -> Outcome:
    """The kernel has every symbol that the module needs"""
    said = facts.load_said(module_load.UNKNOWN_SYMBOL)
    if said is None or is_loaded(facts):
        return _nothing_said(facts)
    message, match = said
    symbol, provider = match["symbol"] or "", match["provider"]
    provider = provider or next((module for prefix, module in PROVIDERS.items() if symbol.startswith(prefix)), None)
    expected, observed = "all symbols known", plain(message)
    if symbol and not provider:
        cause = f"The nvidia module does not load: the running kernel has no symbol {symbol} for it, so it was built for another kernel or other headers."
        return failed(
            expected,
            observed,
            cause=cause,
            remedy=(
                "Build it again with the running kernel's own headers (dkms install --force -k $(uname -r)), or take a driver branch that supports this kernel."
            ),
        )
    needed = provider or "ipmi_devintf, i2c_core or drm"
    cause = (
        f"The nvidia module does not load: it needs {symbol or 'symbols'} of the kernel module {needed}, which is not loaded, "
        f"not installed, or of another kernel ({observed})."
    )
    remedy = (
        f"Load it first (modprobe {provider or 'ipmi_devintf'}; at boot: /etc/modules-load.d), after installing the running "
        "kernel's modules (linux-modules-extra-$(uname -r), "
        "kernel-modules-extra) where they are not there or of another release; load nvidia by modprobe, not by insmod."
    )
    return failed(expected, observed, cause=cause, remedy=remedy)


@_load_rule(
    "kernel.module_not_blocked",
    probes=("modprobe_d", "kernel_cmdline", "lsmod"),
    symptom="The module is built and signed, nothing refuses it, and it is not loaded.",
    cause="modprobe's configuration or the kernel command line keeps the nvidia module out.",
    fix="Remove the blacklist (prime-select and passthrough guides write one), renew the initramfs and reboot.",
    verify="modprobe -c | grep -E 'blacklist nvidia|alias nvidia off' prints nothing; modprobe nvidia.",
    source="modprobe.d(5), Linux kernel-parameters.txt (module_blacklist)",
)
def module_not_blocked(facts: Facts, wanted: Wanted) -> Outcome:
    """Nothing keeps the nvidia module from loading"""
    if is_loaded(facts):
        return passed("the module is loaded")
    if facts.nvidia_blocked is None or is_loaded(facts) is None:
        return unknown()
    if not facts.nvidia_blocked:
        return passed("not blocked")
    cause = f"The nvidia module is blacklisted in {facts.nvidia_blocked}, so it is not loaded."
    remedy = "Remove the blacklist of nvidia there, renew the initramfs (update-initramfs -u, dracut --force) and reboot, or modprobe nvidia."
    return failed("nvidia not blacklisted", f"blocked in {facts.nvidia_blocked}", cause=cause, remedy=remedy)


@_load_rule(
    "kernel.branch_tracking",
    probes=("dmesg",),
    symptom="Loading nvidia stops with a kernel BUG: 'traps: Missing ENDBR'; the boot hangs.",
    cause="The kernel tracks indirect branches (IBT, on by default since Linux 6.2), and the module has no landing pads for them.",
    fix="Boot with ibt=off, or upgrade to a driver built with them.",
    verify="modprobe nvidia; dmesg shows no 'Missing ENDBR'.",
    source="NVIDIA/open-gpu-kernel-modules #256 #1255, Frogging-Family/linux-tkg #533",
)
def branch_tracking(facts: Facts, wanted: Wanted) -> Outcome:
    """The module runs under the kernel's indirect branch tracking"""
    said = facts.load_said(module_load.NO_ENDBR)
    if said is None:
        return _nothing_said(facts)
    message = plain(said[0])
    cause = f"The kernel {facts.kernel_release or ''} enforces indirect branch tracking (IBT), for which the nvidia module was not built ({message})."
    remedy = "Boot with ibt=off on the kernel command line, or upgrade the driver to a release that supports IBT and build it with the kernel's compiler."
    return failed("no missing ENDBR", message, cause=re.sub(" +", " ", cause), remedy=remedy)
