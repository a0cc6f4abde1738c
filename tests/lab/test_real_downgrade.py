"""Real packages to a newer driver and kernel and back: three locks of Debian's own archive, and what it has where a pin is gone."""

import pytest
import yaml

from tests.end_to_end import real
from tests.end_to_end.loop import Loop

OLD, NEW = ("6.12.107+deb13-cloud-amd64", "535.*"), ("6.12.*-cloud-amd64", "550.*")


@pytest.fixture
def pool(tmp_path):
    inventory = real.write_inventory(tmp_path / "inventory", tmp_path / "state", tmp_path / "base.tar").parent
    lock = inventory / "locks" / f"{real.POOL}.lock.yml"
    loop = Loop(state=tmp_path, report=tmp_path / "reports", pool=real.POOL)

    def locked(kernel, driver, expect="pass"):
        loop.pin("kernel.version", kernel)
        loop.pin("nvidia_driver.version", driver)
        result = loop.play(f"Lock {kernel}, {driver}", "lock_stack", expect=expect, pool=real.POOL)
        return result, lock.read_bytes()

    return locked


def names(lock, layer):
    return {one["name"] for one in yaml.safe_load(lock)["packages"] if one["layer"] == layer}


def settled(lock):
    return yaml.safe_load(lock)["pins"]["nvidia_driver"]["version"]


@pytest.mark.lab
def test_the_way_there_and_back_is_three_locks_and_the_third_is_the_first(pool):
    _, first = pool(*OLD)
    there, second = pool(*NEW)
    back, third = pool(*OLD)
    assert third == first != second
    assert "nvidia-tesla-535-kernel-dkms" in names(first, "driver") and not any("535" in name for name in names(second, "driver"))
    assert "nvidia-kernel-dkms" in names(second, "driver") - names(first, "driver")
    assert f"linux-image-{OLD[0]}" in names(first, "kernel") - names(second, "kernel")
    assert any(line.split() == ["driver", "driver", settled(first), "->", settled(second)] for line in there["summary"])
    assert any(line.split() == ["driver", "driver", settled(second), "->", settled(first)] for line in back["summary"])
    assert any(line.startswith("needs ") and "reboot" in line for line in back["summary"])


@pytest.mark.lab
def test_a_version_that_the_archive_has_no_longer_is_refused_with_what_it_has(pool):
    _, before = pool(*OLD)
    gone, _ = pool(OLD[0], "535.261.03", expect="fail")
    assert 'nvidia_driver.version is "535.261.03"' in gone["message"] and settled(before) in gone["message"]
    kernel, after = pool("6.12.73+deb13-cloud-amd64", "535.*", expect="fail")
    assert "6.12.73+deb13-cloud-amd64" in kernel["message"] and "6.12.107+deb13-cloud-amd64" in kernel["message"]
    assert after == before
