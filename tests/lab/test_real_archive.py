"""Debian's own archive, whose names and dependencies nobody made for a test: locked twice, to the same bytes. `make nightly` installs the lock too."""

import pytest

from tests.end_to_end import real
from tests.end_to_end.loop import Loop


@pytest.mark.lab
def test_a_lock_of_debians_own_packages_is_whole_and_the_same_twice(tmp_path):
    loop = Loop(state=tmp_path, report=tmp_path / "reports", pool=real.POOL)
    real.write_inventory(tmp_path / "inventory", tmp_path / "state", tmp_path / "base.tar")
    lock = tmp_path / "inventory" / "locks" / f"{real.POOL}.lock.yml"
    summary = loop.play("Lock Debian's own packages", "lock_stack", pool=real.POOL)["summary"]
    first = lock.read_bytes()
    lock.unlink()
    loop.play("Lock them again", "lock_stack", pool=real.POOL)
    assert lock.read_bytes() == first
    locked = {tuple(line.split()[:2]) for line in summary}
    assert {("driver", "nvidia-kernel-dkms"), ("driver", "libcuda1"), ("driver", "dkms"), ("kernel", "gcc-14"), ("engine", "runc")} <= locked
    loop.play("What the archive still has of the lock", "check_expiry", pool=real.POOL)
