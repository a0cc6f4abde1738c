# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the kernel and modprobe say when NVIDIA's modules load or do not. Pure.

Wordings: Linux kernel/module (main.c, version.c, signing.c), security/lockdown, arch/x86 (IBT); kmod's modprobe and insmod; nvidia-installer; the
probe routine of the nvidia module (NVRM lines). nvidia_drm, nvidia_modeset and nvidia_peermem are left out: CUDA does not need them.
"""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles

_MODULE = r"nvidia(?:[_-](?:uvm|current(?:[_-]uvm)?|\d{3}))?"
_INSERT = r"(?:could not insert|failed to insert|cannot insert)[^\n]{0,200}\bnvidia(?:[_-]uvm|[_-]current)?(?:\.ko)?\b[^\n:]{0,20}: "

NOT_FOUND = r"module nvidia(?:[_-](?:current|\d{3}))? not found(?: in directory \S*/lib/modules/(?P<kernel>\S+[\w+]))?|could not find module by name='nvidia"
NO_MODULE_TREE = r"could not open (?:moddep|builtin) file '/(?:usr/)?lib/modules/(?P<kernel>[^/']+)/"
UNSIGNED = (
    r"loading of (?:unsigned )?module (?:with (?:unsupported crypto|unavailable key) )?is rejected|unsigned module loading is restricted"
    rf"|{_INSERT}(?:key was rejected by service|required key not available)|not signed by a key that is trusted by the kernel"
    r"|key was rejected by service|required key not available"
)
NOT_PERMITTED = rf"{_INSERT}operation not permitted|kernel module load error: operation not permitted"
OF_ANOTHER_BUILD = (
    rf"\b{_MODULE}: version magic '(?P<built>[^']+?)\s*' should be '(?P<runs>[^']+?)\s*'"
    rf"|\b{_MODULE}: (?:disagrees about version of symbol|no symbol version for)"
    rf" (?P<symbol>\w+)|failed to validate module \[{_MODULE}\] btf: -22|(?:{_INSERT}|kernel module load error: )(?:exec format error|invalid module format)"
)
UNKNOWN_SYMBOL = (
    rf"\b{_MODULE}: Unknown symbol (?P<symbol>\w+)|{_INSERT}unknown symbol in module|could not insert '(?P<provider>ipmi_\w+|i2c_core)': (?!operation)"
)
NO_ENDBR = r"missing endbr"
OTHER_DRIVER = (
    r"NVRM: GPU (?P<gpu>\S+) is already bound to (?P<driver>[\w-]+)|(?P<nouveau>nouveau) kernel driver is currently in use"
    r"|NVRM: The NVIDIA probe routine was not called|conflicting kernel module"
)
NOUVEAU_BINDS = r"\bnouveau (?P<gpu>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): (?:NVIDIA|bios:|DRM:|fb:)"
SECURE_BOOT = r"(?<!if )(?<!when )secure ?boot (?:is )?(?P<state>enabled|disabled)"
TAINT = rf"\b{_MODULE}: module verification failed: signature and/or required key missing"

_TELLING = (
    r"nvidia|nouveau|nvrm|secure ?boot|kernel module load error|ipmi_|i2c_core|loading of (?:unsigned )?module|unsigned module|key was rejected"
    r"|required key not available|trusted by the kernel|endbr|moddep file|builtin file"
)
_LONGEST = 2000


def lines(text: str) -> list[str]:
    """The lines of a log that can say something about NVIDIA's modules."""
    return [line.strip() for line in needles.lines(_TELLING, text) if len(line) <= _LONGEST]
