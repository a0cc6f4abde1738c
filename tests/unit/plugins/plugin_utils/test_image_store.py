import errno
import multiprocessing
import os
import signal

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils import image_store
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_store import ImageStore, StoreError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEY = digest_of("a build")


@pytest.fixture
def store(tmp_path):
    return ImageStore(tmp_path / "state")


@pytest.fixture
def source(tmp_path):
    def make(data=b"an image"):
        path = tmp_path / "source"
        path.write_bytes(data)
        return path

    return make


def built(store, source):
    digests = {name: store.put(source(name.encode())) for name in ("image_digest", "manifest_digest")}
    store.record(KEY, {**digests, "pool": "p"})
    return digests


@given(data=st.binary(max_size=5000))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_put_is_read_back_under_the_digest_of_its_bytes(store, source, data):
    digest = store.put(source(data))
    assert digest == file_digest(source(data))
    assert store.path(digest).read_bytes() == data
    assert digest in store.list()


@given(data=st.binary(min_size=1, max_size=500), position=st.integers(min_value=0), change=st.integers(1, 255))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_changed_byte_anywhere_is_found_on_read(store, source, data, position, change):
    path = store.path(store.put(source(data)))
    changed = bytearray(data)
    changed[position % len(data)] ^= change
    path.chmod(0o644)
    path.write_bytes(changed)
    with pytest.raises(StoreError, match="is damaged"):
        store.path(file_digest(source(data)))
    path.unlink()


def test_a_blob_lies_under_two_and_62_digits(store, source):
    digest = store.put(source())
    hexadecimal = digest.removeprefix("sha256:")
    assert store.path(digest) == store.root / "sha256" / hexadecimal[:2] / hexadecimal[2:]


def test_storing_the_same_bytes_twice_keeps_one_blob(store, source):
    assert store.put(source()) == store.put(source())
    assert len(store.list()) == 1


def test_a_missing_blob_is_named_with_what_to_do(store):
    with pytest.raises(StoreError, match=r"does not hold sha256:.*build_image"):
        store.path(KEY)


@pytest.mark.parametrize("digest", ["", "latest", "sha256:abc", "sha256:" + "g" * 64, "sha256:../../../../etc/passwd", KEY + "\n"])
def test_what_is_no_digest_never_becomes_a_path(store, digest):
    with pytest.raises(StoreError, match="is no image digest"):
        store.path(digest)


def test_a_build_is_found_again_by_its_key(store, source):
    digests = built(store, source)
    assert store.built(KEY) == {**digests, "pool": "p", "schema": "goldnode.image/v1"}
    assert store.record_of(digests["image_digest"])["manifest_digest"] == digests["manifest_digest"]


@pytest.mark.parametrize("name", ["image_digest", "manifest_digest"])
@pytest.mark.parametrize("harm", ["removed", "damaged"])
def test_a_build_whose_blob_was_harmed_is_not_reused(store, source, name, harm):
    path = store.path(built(store, source)[name])
    path.unlink()
    if harm == "damaged":
        path.write_bytes(b"x")
    assert store.built(KEY) is None


def test_a_build_is_not_recorded_before_its_blobs_are_stored(store):
    with pytest.raises(StoreError, match="does not hold"):
        store.record(KEY, {"image_digest": KEY, "manifest_digest": KEY})
    assert store.built(KEY) is None


def test_an_image_without_a_record_is_named(store, source):
    with pytest.raises(StoreError, match="no record of a build"):
        store.record_of(store.put(source()))


def test_a_full_disk_is_one_sentence_and_leaves_nothing(store, source, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = source()
    monkeypatch.setattr(image_store.os, "fsync", full)
    with pytest.raises(StoreError, match=r"no space for source in .* MiB free\); free some"):
        store.put(path)
    assert store.list() == []
    assert not (store.root / "incoming").exists()


def _put_and_die(state, path, monkeypatch_target):
    """A child that is killed as hard as can be at the moment before the rename."""
    setattr(image_store, monkeypatch_target, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    ImageStore(state).put(path)


def test_a_killed_writer_leaves_no_blob_and_does_not_stop_the_next(store, source):
    child = multiprocessing.get_context("fork").Process(target=_put_and_die, args=(store.root.parent, source(), "_publish"))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert (store.root / "incoming").exists()
    assert store.list() == []
    assert store.path(store.put(source())).read_bytes() == b"an image"
    assert not (store.root / "incoming").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'"x"', b"\xff", b'{"image_digest": 1, "manifest_digest": 2}'])
def test_a_damaged_record_is_not_built_and_hides_no_other(store, source, content):
    digests = built(store, source)
    store.record(digest_of("another build"), {**digests, "lock_digest": "l"})
    damaged = store.root / "builds" / f"{KEY.removeprefix('sha256:')}.json"
    damaged.chmod(0o644)
    damaged.write_bytes(content)
    assert store.built(KEY) is None
    assert store.newest_of_lock("l")["image_digest"] == digests["image_digest"]
    assert store.record_of(digests["image_digest"])["lock_digest"] == "l"
    store.record(KEY, digests)
    assert store.built(KEY)["image_digest"] == digests["image_digest"]
