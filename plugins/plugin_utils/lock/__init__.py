# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pins and locks: from what a person wants to exactly which packages that is. Runs on the controller only."""

from __future__ import annotations


class LockError(Exception):
    """Why pins cannot become a lock, or a lock cannot be used: one sentence for the person who runs the playbook."""
