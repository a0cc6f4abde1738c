# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How the controller writes a file that others read. What must outlast a power cut is in the ledger and the image store."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file that is there."""
    return one.exists() and other.exists() and one.samefile(other)


def write_text(path: Path, text: str, mode: int = 0o644) -> bool:
    """The old file or the whole new one, also after a kill and with two writers; True if content or mode was another before."""
    if path.is_file() and path.read_bytes() == text.encode("utf-8", "backslashreplace") and path.stat().st_mode & 0o7777 == mode:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # a short name of its own, for that of the file may be as long as names can be
    fresh = path.with_name(f".{os.getpid()}.{threading.get_ident()}.new")
    try:
        fresh.write_bytes(text.encode("utf-8", "backslashreplace"))
        fresh.chmod(mode)
        fresh.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        fresh.unlink(missing_ok=True)
    return True
