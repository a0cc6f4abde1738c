# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import base, limits, preflight, roots, teardown
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError, missing_programs, run, succeeds

TARGETS = """\
http://mirror.example/debian-security/|Debian|main
https://vendor.example/apt/|Vendor|main
http://mirror.example/debian/|Debian|main
"""


def test_the_mirror_is_the_one_that_apt_of_this_machine_uses() -> None:
    assert base.mirror_of(TARGETS, "debian", "") == "http://mirror.example/debian/"


def test_a_named_mirror_wins() -> None:
    assert base.mirror_of(TARGETS, "ubuntu", "http://other.example/debian") == "http://other.example/debian"


@pytest.mark.parametrize(("targets", "distribution"), [(TARGETS, "ubuntu"), ("", "debian"), ("https://vendor.example/apt/|Vendor|main\n", "debian")])
def test_without_a_debian_mirror_the_variable_is_asked_for(targets: str, distribution: str) -> None:
    with pytest.raises(LabError, match="GOLDNODE_DEBIAN_MIRROR"):
        base.mirror_of(targets, distribution, "")


def test_another_recipe_is_cached_under_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = base.recipe_key()
    monkeypatch.setattr(base, "PACKAGES", (*base.PACKAGES, "hello"))
    assert base.recipe_key() != before


def test_the_cache_is_where_xdg_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert base.cached().tar == Path(f"/x/goldnode/roots/{base.recipe_key()}.tar.zst")


def test_a_lab_keeps_the_packages_that_it_began_with(tmp_path: Path) -> None:
    cached, kept = tmp_path / "cached", tmp_path / "kept"
    cached.mkdir()
    (cached / "runc_1-1_amd64.deb").write_text("x")
    found = base.keep_packages(base.Base("k", tmp_path / "t", cached), kept)
    (cached / "runc_1-1_amd64.deb").unlink()
    assert base.keep_packages(base.Base("k", tmp_path / "t", cached), kept) == found == [kept / "runc_1-1_amd64.deb"]


def test_a_template_with_other_packages_is_another_template(tmp_path: Path) -> None:
    package = tmp_path / "a.deb"
    package.write_text("1")
    first = roots.template_key("base", [package])
    package.write_text("2")
    assert len({"base", first, roots.template_key("base", [package])}) == 3
    assert roots.template_key("base", []) == "base"


def test_mounts_of_a_lab_are_unmounted_deepest_first_and_no_others() -> None:
    mountinfo = "".join(f"1 1 0:1 / {path} rw - btrfs /dev/loop0 rw\n" for path in ("/l/a", "/l/a/roots", "/l/a/roots/n\\040x/proc", "/l/ab", "/"))
    assert teardown.mounts_below(mountinfo, Path("/l/a")) == [Path("/l/a/roots/n x/proc"), Path("/l/a/roots"), Path("/l/a")]


def test_too_little_space_is_one_sentence_with_both_numbers() -> None:
    with pytest.raises(LabError, match=r"needs 6 GB free at /var; there are 1\.5 GB"):
        preflight.check_space(Path("/var"), 1_500_000_000)


def test_a_plain_user_is_told_to_use_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LabError, match="needs root"):
        preflight.check_root()


def test_missing_programs_are_named_before_anything_is_touched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(preflight, "PROGRAMS", ("sh", "no-such-program"))
    with pytest.raises(LabError, match=r"programs are missing: no-such-program\. Install them with: make setup"):
        preflight.check(tmp_path / "state")
    assert not (tmp_path / "state").exists()
    assert missing_programs(["sh", "no-such-program"]) == ["no-such-program"]


def test_a_failing_program_is_an_error_with_its_own_words() -> None:
    with pytest.raises(LabError, match="sh -c echo no; exit 3 ended with 3: no"):
        run(["sh", "-c", "echo no; exit 3"])
    assert not succeeds(["no-such-program"])


def test_a_setting_of_the_kernel_is_raised_and_never_lowered(tmp_path: Path) -> None:
    setting = tmp_path / "setting"
    setting.write_text("128\n")
    assert limits.raise_to(setting, 1024)
    assert setting.read_text() == "1024\n"
    assert not limits.raise_to(setting, 512)
    assert setting.read_text() == "1024\n"
