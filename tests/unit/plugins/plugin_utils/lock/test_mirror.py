"""Mirrors of real signed repositories, read back by lock_stack's own resolver through the real apt or the real repodata."""

import copy
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError, mirror
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.mirror import Mirror, fill, plan, refuse_other_folder, signer, wanted
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, resolve_pool

MOVED = ("repositories", "digest")


@pytest.fixture
def folder(public_folder, tmp_path):
    yield public_folder / f"mirror-{tmp_path.name}"
    shutil.rmtree(public_folder / f"mirror-{tmp_path.name}", ignore_errors=True)


@pytest.fixture
def make(folder, other_key):
    """Fills the mirror of a lock; says what was to be done."""

    def run(lock, where=folder):
        made = Mirror(where, where.as_uri(), lock)
        with signer(None, other_key.home, None) as key:
            todo = plan(made, key.fingerprint)
            fill(made, todo, key)
        return todo

    return run


def pointed_at(folder, inventory):
    """The pool takes its packages from the mirror, as a person would do it."""
    shutil.copy(folder / "package_sources.yml", inventory / "group_vars" / "lab_a10" / "package_sources.yml")
    shutil.copy(folder / "trust.yml", inventory / "trust.yml")


def files_of(folder):
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def packages_there(folder):
    return {path.name for path in folder.rglob("*") if path.suffix in (".deb", ".rpm")}


@pytest.mark.parametrize("kind", ["site", "rpm_site"])
def test_a_pool_that_is_pointed_at_the_mirror_gets_a_lock_with_the_same_packages(kind, make, folder, request):
    files = PoolFiles("lab_a10", request.getfixturevalue(kind).inventory)
    lock = resolve_pool(files)
    todo = make(lock)
    assert len(todo.fetch) == len(lock["packages"]) > 10
    assert packages_there(folder) == {Path(package["filename"]).name for package in lock["packages"]}
    pointed_at(folder, files.inventory)
    again = resolve_pool(files)
    assert {key: value for key, value in again.items() if key not in MOVED} == {key: value for key, value in lock.items() if key not in MOVED}
    assert all(one["uris"][0].startswith(f"file://{folder}/repositories/") for one in again["repositories"])


@pytest.mark.parametrize("kind", ["site", "rpm_site"])
def test_a_second_run_fetches_and_writes_nothing(kind, make, folder, request, monkeypatch):
    lock = resolve_pool(PoolFiles("lab_a10", request.getfixturevalue(kind).inventory))
    make(lock)
    before = files_of(folder)
    monkeypatch.setattr(mirror, "urlopen", lambda *_, **__: pytest.fail("fetched"))
    assert not make(lock).changes
    assert files_of(folder) == before


def test_another_lock_changes_what_is_there_to_exactly_its_own(site, make, folder):
    files = PoolFiles("lab_a10", site.inventory)
    old = resolve_pool(files)
    site.pins["nvidia_driver"]["version"] = "595.71.05"
    site.write()
    new = resolve_pool(files)
    make(old)
    todo = make(new)
    assert {one.version for one in todo.fetch} == {"595.71.05-1+goldnode.lab"}
    assert packages_there(folder) == {Path(package["filename"]).name for package in new["packages"]}
    assert len(make(old).remove) == len(todo.fetch)
    site.pins["nvidia_driver"]["version"] = "580.159.03"
    site.write()
    pointed_at(folder, files.inventory)
    assert resolve_pool(files)["packages"] == old["packages"]


def test_a_damaged_package_and_index_are_made_good_and_what_is_extra_goes(site, make, folder):
    lock = resolve_pool(PoolFiles("lab_a10", site.inventory))
    make(lock)
    damaged = folder / wanted(lock)[0].path
    damaged.write_bytes(b"damaged")
    (damaged.parent / "extra.deb").touch()
    (folder / "repositories" / "gone" / "pool").mkdir(parents=True)
    (folder / "repositories" / "gone" / "pool" / "old.deb").touch()
    index = next(folder.rglob("Packages"))
    index.write_text(index.read_text() + "\n")
    todo = make(lock)
    assert [one.name for one in todo.fetch] == [wanted(lock)[0].name] and len(todo.remove) == 2 and todo.index
    assert not (folder / "repositories" / "gone").exists()
    assert not make(lock).changes


def kill_at(name, nth, work):
    """`work` in a process of its own, which kills itself (-9) when the n-th file or folder of that name would come to its place."""

    def child():
        seen = []

        def dying(original):
            def moved(self, target):
                seen.append(Path(target).name)
                if seen.count(name) == nth:
                    os.kill(os.getpid(), signal.SIGKILL)
                return original(self, target)

            return moved

        Path.replace, Path.rename = dying(Path.replace), dying(Path.rename)
        work()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    return process.exitcode


APT_MOMENTS = [("mirror.json", 1), ("runc_1.1.15+ds1-2+b4_amd64.deb", 1), ("Packages", 2), ("InRelease", 1), ("trust.yml", 1), ("mirror.json", 2)]
RPM_MOMENTS = [("docker-ce-29.9.0-1.el9.x86_64.rpm", 1), ("repodata", 1), ("repodata", 2)]


@pytest.mark.parametrize(("kind", "name", "nth"), [*(("site", *moment) for moment in APT_MOMENTS), *(("rpm_site", *moment) for moment in RPM_MOMENTS)])
def test_a_run_that_was_killed_is_completed_by_the_next(kind, name, nth, make, folder, request):
    files = PoolFiles("lab_a10", request.getfixturevalue(kind).inventory)
    lock = resolve_pool(files)
    assert kill_at(name, nth, lambda: make(lock)) == -signal.SIGKILL
    refuse_other_folder(Mirror(folder, folder.as_uri(), lock))
    make(lock)
    assert not make(lock).changes
    assert not list(folder.rglob(".*"))
    pointed_at(folder, files.inventory)
    assert resolve_pool(files)["packages"] == lock["packages"]


def test_other_content_is_refused_and_leaves_no_file(site, make, folder):
    lock = resolve_pool(PoolFiles("lab_a10", site.inventory))
    lock["packages"][0]["sha256"] = "f" * 64
    with pytest.raises(
        LockError, match=r"of the lock cannot be fetched \(file:.*: has \d+ bytes with SHA-256 .*, locked are \d+ with ffffffffffff\)\. Put the"
    ):
        make(lock)
    assert not packages_there(folder)


def test_what_left_the_archive_comes_from_its_snapshot(site, make, folder, monkeypatch):
    lock = copy.deepcopy(resolve_pool(PoolFiles("lab_a10", site.inventory)))
    for one in lock["repositories"]:
        one["origin"] = "Debian"
    real = mirror.urlopen
    stamps = {one["date"].replace("-", "").replace(":", "") for one in lock["repositories"]}
    kept = {Path(one.path).name: one.urls[0] for one in wanted(lock)}

    def archive(url, timeout):
        stamp, found, name = url.removeprefix("https://snapshot.debian.org/archive/debian/").partition("/pool/")
        if found and stamp in stamps:
            return real(kept[unquote(name)], timeout=timeout)
        raise HTTPError(url, 404, "Not Found", Message(), None)

    monkeypatch.setattr(mirror, "urlopen", archive)
    make(lock)
    assert len(packages_there(folder)) == len(lock["packages"])


@pytest.mark.parametrize("filename", ["../../etc/passwd", "/etc/passwd", "pool/../../x.deb"])
def test_a_file_name_that_leads_out_is_refused(site, filename):
    lock = resolve_pool(PoolFiles("lab_a10", site.inventory))
    lock["packages"][0]["filename"] = filename
    with pytest.raises(LockError, match="leads out of its repository"):
        wanted(lock)


def test_a_folder_with_other_things_or_of_another_pool_is_refused(site, make, folder, tmp_path):
    lock = resolve_pool(PoolFiles("lab_a10", site.inventory))
    make(lock)
    refuse_other_folder(Mirror(folder, "file:///x", lock))
    with pytest.raises(LockError, match="is the mirror of pool lab_a10, not of other"):
        refuse_other_folder(Mirror(folder, "file:///x", {**lock, "pool": "other"}))
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one").touch()
    with pytest.raises(LockError, match="is not empty and no mirror of ours"):
        refuse_other_folder(Mirror(tmp_path / "photos", "file:///x", lock))


def test_a_flat_repository_stays_flat(site, make, folder):
    """As NVIDIA's: suite /, no components, file names that begin with ./"""
    files = PoolFiles("lab_a10", site.inventory)
    lock = resolve_pool(files)
    for one in lock["repositories"]:
        one.update(suites=["/"], components=[])
    for one in lock["packages"]:
        one["filename"] = f"./{one['filename']}"
    make(lock)
    pointed_at(folder, files.inventory)
    assert resolve_pool(files)["packages"] == lock["packages"]


def test_keys_are_given_never_made(tmp_path, other_key):
    with pytest.raises(LockError, match=r"the signing key .*none is not there"), signer(tmp_path / "none", None, None):
        pass
    (tmp_path / "home").mkdir(mode=0o700)
    with pytest.raises(LockError, match=r"has the secret keys \(none\); expected one secret key"), signer(None, tmp_path / "home", None):
        pass
    with pytest.raises(LockError, match=f"has the secret keys {other_key.fingerprint}; expected the secret key {'A' * 40}"), signer(
        None, other_key.home, "A" * 40
    ):
        pass


def run_playbook(inventory, report, *inputs, options=()):
    playbook = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(inventory / "hosts.yml"), "goldnode.gpu.mirror_packages"]
    words = [word for one in (f"goldnode_report_dir={report}", *inputs) for word in ("-e", one)]
    done = subprocess.run([*playbook, *words, *options], capture_output=True, text=True, check=False, env={**os.environ, "ANSIBLE_LOCALHOST_WARNING": "0"})
    result = report / "result.json"
    return done, json.loads(result.read_text()) if result.exists() else {}


def test_the_playbook_signs_with_a_key_file_and_says_what_is_missing(site, folder, tmp_path, other_key):
    arms = {f"lab_a10_{arm}": {"hosts": {f"{arm}1": {}}} for arm in ("canary", "baseline", "production")}
    (site.inventory / "hosts.yml").write_text(yaml.safe_dump({"all": {"children": {"lab_a10": {"children": arms}}}}))
    files = PoolFiles("lab_a10", site.inventory)
    files.lock.parent.mkdir()
    files.lock.write_text(render(resolve_pool(files)))
    done, _ = run_playbook(site.inventory, tmp_path / "report", "pool=lab_a10", f"mirror={folder}")
    assert done.returncode == 2 and "expected a folder and one of the two keys" in done.stdout
    gpg = ["gpg", "--homedir", str(other_key.home), "--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--armor", "--export-secret-keys"]
    (tmp_path / "secret").write_bytes(subprocess.run(gpg, check=True, capture_output=True).stdout)
    inputs = ("pool=lab_a10", f"mirror={folder}", f"signing_key={tmp_path / 'secret'}", "mirror_url=http://mirror.example/a10")
    done, _ = run_playbook(site.inventory, tmp_path / "checked", *inputs, options=["--check"])
    assert done.returncode == 0 and "would fetch 20 of 20 packages" in done.stdout and not folder.exists(), done.stdout
    done, result = run_playbook(site.inventory, tmp_path / "first", *inputs)
    assert done.returncode == 0, done.stdout
    assert result["outcome"] == "pass" and result["changed"] and len(result["fetched"]) == len(packages_there(folder))
    sources = yaml.safe_load((folder / "package_sources.yml").read_text())["package_sources_repositories"]
    assert {one["uris"][0] for one in sources} == {f"http://mirror.example/a10/repositories/{name}" for name in ("os", "nvidia")}
    assert not run_playbook(site.inventory, tmp_path / "again", *inputs)[1]["changed"]
    lock = yaml.safe_load(files.lock.read_text())
    lock["packages"][0]["sha256"] = "e" * 64
    (tmp_path / "other.lock.yml").write_text(render({**lock, "digest": digest_without(lock)}))
    done, result = run_playbook(site.inventory, tmp_path / "bad", *inputs, f"lock_file={tmp_path / 'other.lock.yml'}")
    assert done.returncode == 2 and result["outcome"] == "fail" and "cannot be fetched" in result["message"]
