# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The probe as it is piped to a node: one Python text that carries the CUDA probe with it, so that nothing need be installed there."""

from __future__ import annotations

import base64
import zlib
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "module_utils"
PLACE = "\nCUDA_PROBE_SOURCE = None\n"


@cache
def payload() -> str:
    """The probe's source with the packed CUDA probe in its place. Python reads all of it before it starts, so stdin is free to be a pipe."""
    probe = (SOURCES / "probe.py").read_text()
    if probe.count(PLACE) != 1:
        raise ValueError("probe.py does not have exactly one line CUDA_PROBE_SOURCE = None")
    return probe.replace(PLACE, f'\nCUDA_PROBE_SOURCE = "{packed((SOURCES / "cuda_probe.py").read_text())}"\n')


def packed(source: str) -> str:
    """A text as base64 of its zlib form, the way that probe.py unpacks it."""
    return base64.b64encode(zlib.compress(source.encode(), 9)).decode()
