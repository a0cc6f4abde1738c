"""Debian's own packages behind an air gap: mirrored by the lock, and locked again from the mirror alone."""

import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from tests.end_to_end import real
from tests.end_to_end.loop import Loop


@pytest.fixture
def public_folder():
    # apt reads `file:` repositories as its own user, which pytest's 0700 folders keep out
    with tempfile.TemporaryDirectory(prefix="goldnode-mirror-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def signing_home(tmp_path):
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    words = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", "site mirror", "ed25519", "sign", "never"]
    subprocess.run(["gpg", "--homedir", str(home), *words], check=True, capture_output=True)
    yield home
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)


def packages(lock):
    return yaml.safe_load(lock.read_text())["packages"]


@pytest.mark.lab
def test_a_mirror_of_debians_own_packages_gives_the_same_packages_and_nothing_else(tmp_path, public_folder, signing_home):
    loop = Loop(state=tmp_path, report=tmp_path / "reports", pool=real.POOL)
    inventory = real.write_inventory(tmp_path / "inventory", tmp_path / "state", tmp_path / "base.tar").parent
    lock, mirror = inventory / "locks" / f"{real.POOL}.lock.yml", public_folder / "mirror"
    given = {"pool": real.POOL, "mirror": str(mirror), "signing_home": str(signing_home)}
    loop.play("Lock Debian's own packages", "lock_stack", pool=real.POOL)
    locked = packages(lock)
    filled = loop.play("Mirror them", "mirror_packages", **given)
    assert len(filled["fetched"]) == len(locked) > 20
    assert {path.name for path in mirror.rglob("*.deb")} == {Path(one["filename"]).name for one in locked}
    again = loop.play("Mirror them again", "mirror_packages", **given)
    assert (again["changed"], again["fetched"]) == (False, [])
    (inventory / "group_vars" / real.POOL / "package_sources.yml").write_text((mirror / "package_sources.yml").read_text())
    (inventory / "trust.yml").write_text((mirror / "trust.yml").read_text())
    lock.unlink()
    loop.play("Lock from the mirror alone", "lock_stack", pool=real.POOL)
    assert packages(lock) == locked
    assert loop.play("What the mirror still has of the lock", "check_expiry", pool=real.POOL)["count"]["there"] == len(locked)
