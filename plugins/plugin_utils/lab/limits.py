# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Settings of this machine's kernel that many nodes need higher than Linux's default."""

from __future__ import annotations

from pathlib import Path

INOTIFY_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
# A node takes 7 to 10 of root's 128; without one its systemd does not boot. Each costs about a kilobyte, and only when it is used.
LEAST = 1024


def raise_to(setting: Path, least: int) -> bool:
    """Never lowers. It stays when the lab goes: other labs may live by it."""
    if int(setting.read_text()) >= least:
        return False
    setting.write_text(f"{least}\n")
    return True
