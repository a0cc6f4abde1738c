# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel: the one that runs, the module built for it, how it loads, who holds the GPU, and the next boot.

Imported in the order in which a reason comes before its consequences: a module that was not built cannot load, and nouveau takes a GPU that nobody holds.
"""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel import release  # isort: skip
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel import build  # isort: skip
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel import load  # isort: skip
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel import module  # isort: skip
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel import binding  # isort: skip
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel import next_boot  # isort: skip

__all__ = ["binding", "build", "load", "module", "next_boot", "release"]
