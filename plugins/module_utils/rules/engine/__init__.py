# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: which daemon answers, what it is, what it was told, and what Kubernetes asks of it."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.engine import daemon, kubernetes, pins, requests, runtimes

__all__ = ["daemon", "kubernetes", "pins", "requests", "runtimes"]
