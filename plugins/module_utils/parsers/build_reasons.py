# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How make, compilers, kbuild, dkms, akmods, nvidia-installer, driver containers and package managers say why a kernel module does not build.

`kernel` is the release that a line names, `what` what is wrong. Sources: kbuild and modpost of Linux 5.4 to 7.0, dkms 2.2 to 3.2, Kbuild and
conftest.sh of NVIDIA 470 to 595, nvidia-installer, gpu-driver-container; the reports are named in rules/kernel/build.py. Collected 2026-12-01.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RESOURCES = "resources"
COMPILER = "compiler"
HEADERS = "headers"
KERNEL_KIND = "kernel kind"
TOOLS = "tools"
SOURCE = "source"


class Wording(NamedTuple):
    """One wording of a reason. Within a kind the narrow ones stand before the wide ones."""

    kind: str
    pattern: re.Pattern[str]


def _wordings(kind: str, *patterns: str) -> tuple[Wording, ...]:
    return tuple(Wording(kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for pattern in patterns)


_RELEASE = r"(?P<kernel>\d[\w.+~-]{0,80}\w)"
_GONE = r"(?:(?:command )?not found|no such file or directory)"
_NO_FILE = r"[`'\"\u2019]?: no such file or directory"

WORDINGS: tuple[Wording, ...] = (
    *_wordings(
        RESOURCES,
        r"(?P<what>no space left on device|disk quota exceeded)",
        r"(?P<what>internal compiler error: killed|killed signal terminated program|virtual memory exhausted|cannot allocate memory|cc1\w*: out of memory)",
    ),
    *_wordings(
        COMPILER,
        r"error: (?P<what>(?:unrecogni[sz]ed (?:command[- ]line option|argument in option)|unknown argument|unsupported (?:option|argument)|bad value)[^\n]*)",
        r"(?P<what>compiler version check failed|gcc-version-check failed|failed cc (?:version )?(?:sanity )?check|cc_version_check\] error)",
        r"(?P<what>compiler is too old|compiler lacks asm-goto|non-retpoline compiler|incompatible gcc/plugin versions|code model kernel does not support pic)",
        r"(?P<what>plugin needed to handle lto object|lto1: fatal error|lto version [\d.]+ instead of)",
        r"(?:^|[\s:/])(?P<what>(?:\w+-){0,4}(?:gcc|clang|cc|ld\.lld|llvm-\w+)(?:-[\d.]+)?): " + _GONE,
        r"unable to find the development tool [`'\"](?P<what>g?cc)['`\"]",
    ),
    *_wordings(
        HEADERS,
        r"kernel headers for kernel " + _RELEASE + r" (?:cannot be found|are not installed|is not installed)",
        r"missing " + _RELEASE + r" kernel headers",
        r"please install the (?P<what>(?:linux-headers|kernel-devel)-" + _RELEASE + r") package",
        r"module build for (?:kernel " + _RELEASE + r"|the currently running kernel) was skipped since the kernel (?:headers|source)",
        r"(?P<what>/lib/modules/" + _RELEASE + r"/(?:build|source)[^\s:']{0,200})" + _NO_FILE,
        r"(?P<what>/usr/src/(?:linux-headers-|kernels/|kernel-headers-|linux-)" + _RELEASE + r"[^\s:']{0,200})" + _NO_FILE,
        r"(?P<what>(?:linux/autoconf|generated/\w+|config/auto|asm-offsets|linux/version)\.(?:h|conf))" + _NO_FILE,
        r"^(?![^\n]*echo)[^\n]*(?P<what>kernel configuration is invalid)",
        r"(?P<what>unable to find the kernel source tree)",
        r"the kernel (?:header file|source path) [`'\"](?P<what>[^`'\"\n]+)['`\"] (?:does not exist|is invalid)",
        r"(?P<what>could not (?:resolve linux kernel version|locate linux kernel version string))",
        r"(?:unable to locate package|couldn't find any package by (?:glob|regex)|no match for argument:|no package|unable to find a match:)"
        r" [`'\"]?(?P<what>(?:linux-headers|kernel-devel|kernel-headers|kernel-core|linux-modules)-" + _RELEASE + r")",
        r"(?P<what>scripts/(?:basic/fixdep|mod/modpost|genksyms/genksyms|sign-file)): (?:" + _GONE + r"|exec format error|permission denied)",
        r"no rule to make target [`'\"\u2018](?P<what>modules|arch/[^`'\"\u2019\n]+|[^`'\"\u2019\s]{0,200}(?:objtool|scripts/\S{0,80}))['`\"\u2019]",
        r"(?P<what>tools/objtool/objtool): " + _GONE,
        r"(?P<what>\w[\w()]{0,80} conftest failed)",
    ),
    *_wordings(
        KERNEL_KIND,
        r"is a (?P<what>preempt_rt) kernel|failed (?P<rt>preempt_rt) sanity check",
        r"is a (?P<what>xen) kernel",
        r"driver does not support (?:building on )?(?P<what>linux kernels (?:that are )?older than [\d.]+)",
        r"kernel was (?P<what>(?:not )?configured (?:with|to include) (?:loadable module|rivafb|nvidiafb)[^\n.]*)",
        r"#error [^\n]*(?P<what>CONFIG_\w+)",
    ),
    *_wordings(
        TOOLS,
        r"(?P<what>gelf\.h|libelf\.h|openssl/\w+\.h)" + _NO_FILE,
        r"please install (?P<what>libelf-dev)",
        r"(?:^|[\s:/])(?P<what>make|bc|flex|bison|perl|python3?|g\+\+|ld|as|ar|strip|objcopy|g?awk|xz|zstd|depmod|kmod|pahole|patch|rpmbuild): " + _GONE,
        r"unable to find the (?:development tool|program) [`'\"](?P<what>[\w+-]+)['`\"]",
        r"(?P<what>you do not appear to have libc header files)",
        r"(?P<what>version [`'\u2018]?GLIBC_[\d.]+['\u2019]? not found)",
    ),
    *_wordings(
        SOURCE,
        r"gpl-incompatible module \S+ uses gpl-only symbol ['\"`\u2018]?(?P<what>\w+)",
        r"modpost: ['\"](?P<what>\w+)['\"] \[\S*nvidia\S*\] undefined",
        r"\.(?:c|h|cpp):\d+(?::\d+)?: (?:fatal )?error: (?P<what>[^\n]+)",
    ),
)
