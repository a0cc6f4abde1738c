# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a module that changes a node says no."""

from __future__ import annotations


class RefusedError(Exception):
    """A reason not to go on, in one sentence: what, expected, observed, what to do."""
