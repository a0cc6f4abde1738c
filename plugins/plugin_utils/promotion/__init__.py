# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What decides about a release: policy, results, states, guards. Pure: time and rows come in as arguments."""

from __future__ import annotations


class PromotionError(Exception):
    """What cannot be done with a release, a slot or a channel, in one sentence."""
