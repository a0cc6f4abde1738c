# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the nvidia module is in the kernel, as far as the whole evidence says: what the other judgements of this layer ask first."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts

_ON_HOST = r"couldn.t communicate with the NVIDIA driver"
# libnvidia-container and NVML say it in a container too, and mean the host.
_ANYWHERE = r"nvml error: driver not loaded|NVML: Driver Not Loaded|ERROR_LIB.*driver is not loaded"


def is_loaded(facts: Facts) -> bool | None:
    """The module is loaded, is not, or nobody said."""
    if facts.module_loaded is not None:
        return facts.module_loaded
    if facts.is_not_loaded("nvidia") or facts.said(_ON_HOST, lambda source: not source.startswith("run ")) or facts.said(_ANYWHERE):
        return False
    return True if facts.library_version and facts.bundle.rc("nvidia_smi") == 0 else None
