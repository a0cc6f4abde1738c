import os
import subprocess

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils import builder_root
from ansible_collections.goldnode.gpu.plugins.plugin_utils.builder_root import Builder, BuilderError, mounts_below
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import file_digest

NEWEST = 1_700_000_000


@pytest.fixture
def builder(tmp_path):
    return Builder(tmp_path / "builders", "p")


@pytest.fixture
def base(tmp_path):
    """A tar with a tiny root file system in it."""
    tree = tmp_path / "tree"
    for path, mtime in (("etc/passwd", NEWEST), ("usr/sbin/x", NEWEST - 1000)):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(path)
        os.utime(tree / path, (mtime, mtime))
    for folder in (tree, *(path for path in tree.rglob("*") if path.is_dir())):
        os.utime(folder, (NEWEST - 2000, NEWEST - 2000))
    archive = tmp_path / "base.tar"
    subprocess.run(["tar", "--create", "--file", archive, "--directory", tree, "."], check=True)
    return archive


@pytest.fixture
def other_process():
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


def packed(builder, name="image.tar.zst"):
    target = builder.home / name
    builder.pack(target, NEWEST)
    return target


def test_the_newest_time_of_the_base_is_returned(builder, base):
    builder.claim(os.getpid())
    assert builder.unpack(base) == NEWEST
    assert (builder.root / "etc/passwd").read_text() == "etc/passwd"


def test_equal_trees_give_equal_tars_whatever_their_age_and_order(builder, base):
    digests = set()
    for first, second in (("a", "b"), ("b", "a")):
        builder.claim(os.getpid())
        builder.unpack(base)
        for name in (first, second):
            (builder.root / name).write_text(name)
        digests.add(file_digest(packed(builder)))
    assert len(digests) == 1


@pytest.mark.parametrize("change", ["content", "mode", "name", "link"])
def test_any_change_of_the_tree_changes_the_tar(builder, base, change):
    builder.claim(os.getpid())
    builder.unpack(base)
    before = file_digest(packed(builder))
    target = builder.root / "etc/passwd"
    if change == "content":
        target.write_text("another")
    elif change == "mode":
        target.chmod(0o600)
    elif change == "name":
        target.rename(target.with_name("passwd-"))
    else:
        target.unlink()
        target.symlink_to("shadow")
    assert file_digest(packed(builder)) != before


def test_times_are_no_newer_than_the_base_and_older_ones_stay(builder, base):
    builder.claim(os.getpid())
    builder.unpack(base)
    (builder.root / "made_now").write_text("")
    listing = subprocess.run(
        ["tar", "--list", "--verbose", "--utc", "--full-time", "--file", packed(builder)], capture_output=True, text=True, check=True
    ).stdout
    times = {line.split()[-1]: " ".join(line.split()[3:5]) for line in listing.splitlines()}
    assert times["./made_now"] == times["./etc/passwd"] == "2023-11-14 22:13:20"
    assert times["./usr/sbin/x"] == "2023-11-14 21:56:40"


def test_a_builder_of_a_living_process_is_refused(builder, base, other_process):
    builder.claim(other_process)
    with pytest.raises(BuilderError, match=f"is used by process {other_process}; wait"):
        Builder(builder.builders, "p").claim(os.getpid())


def test_a_builder_of_a_dead_process_is_taken_over_and_emptied(builder, base, other_process):
    builder.claim(other_process)
    builder.unpack(base)
    os.kill(other_process, 9)
    os.waitpid(other_process, 0)
    builder.claim(os.getpid())
    assert not builder.root.exists()


def test_a_dead_builder_of_another_pool_is_removed_and_a_living_one_stays(builder, base, other_process):
    dead, living = Builder(builder.builders, "dead"), Builder(builder.builders, "living")
    living.claim(other_process)
    dead.claim(os.getpid())
    (dead.home / "holder").write_text("1:0")
    builder.claim(os.getpid())
    assert not dead.home.exists()
    assert living.home.exists()


def test_the_builder_of_another_living_process_is_never_removed(builder, other_process):
    builder.claim(other_process)
    builder.disclaim(os.getpid())
    assert builder.home.exists()


def test_the_own_builder_is_removed(builder, base):
    builder.claim(os.getpid())
    builder.unpack(base)
    builder.disclaim(os.getpid())
    assert not builder.home.exists()


def test_a_tree_with_mounts_is_neither_packed_nor_removed(builder, base, monkeypatch):
    builder.claim(os.getpid())
    builder.unpack(base)
    monkeypatch.setattr(builder_root, "mounts_below", lambda top: iter([top / "proc"]))
    monkeypatch.setattr(builder_root, "release", lambda top: None)
    with pytest.raises(BuilderError, match="still mounted"):
        packed(builder)
    with pytest.raises(BuilderError, match="still has mounts below"):
        builder.disclaim(os.getpid())
    assert (builder.root / "etc/passwd").exists()


def test_mounts_are_found_below_a_directory_and_not_beside_it():
    assert "/proc" in [str(path) for path in mounts_below(builder_root.Path("/proc"))]
    assert list(mounts_below(builder_root.Path("/pro"))) == []


@pytest.mark.parametrize(("content", "sentence"), [(None, "is not there; image_build_base"), (b"no tar", "ended with")])
def test_an_unusable_base_is_one_sentence(builder, tmp_path, content, sentence):
    base = tmp_path / "x.tar"
    if content is not None:
        base.write_bytes(content)
    builder.claim(os.getpid())
    with pytest.raises(BuilderError, match=sentence):
        builder.unpack(base)


def test_a_tar_without_a_root_file_system_is_one_sentence(builder, tmp_path):
    base = tmp_path / "x.tar"
    subprocess.run(["tar", "--create", "--file", base, "--directory", "/usr/share", "doc/tar/copyright"], check=True)
    builder.claim(os.getpid())
    with pytest.raises(BuilderError, match="holds no root file system"):
        builder.unpack(base)
