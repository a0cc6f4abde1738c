"""Signed metadata may still be anything: what cannot be read is refused, never an exception of another kind."""

from contextlib import suppress

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.rpm_metadata import read_primary, read_repomd
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key, Repository
from hypothesis import given
from hypothesis import strategies as st

REPOSITORY = Repository("os", "https://mirror.example", "/", (), "Rocky", "any", Key("lab", "A" * 40, ""))
NAMES = 'xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm"'
PODMAN = f"""<?xml version="1.0" encoding="UTF-8"?>
<metadata {NAMES} packages="1"><package type="rpm"><name>podman</name><arch>x86_64</arch><version epoch="5" ver="5.8.8" rel="1.el9"/>
<checksum type="sha256" pkgid="YES">{"a" * 64}</checksum><size package="10" installed="20" archive="30"/><location href="p/podman.rpm"/>
<format><rpm:vendor>Rocky</rpm:vendor><rpm:requires><rpm:entry name="crun" flags="GE" epoch="0" ver="1.8"/><rpm:entry name="(a if b)"/>
<rpm:entry name="/bin/sh"/></rpm:requires><rpm:provides><rpm:entry name="podman(x86-64)" flags="EQ" epoch="5" ver="5.8.8" rel="1.el9"/></rpm:provides>
</format></package></metadata>"""
REPOMD = f"""<repomd xmlns="http://linux.duke.edu/metadata/repo"><revision>1764403200</revision><data type="primary">
<checksum type="sha256">{"a" * 64}</checksum><location href="repodata/p.xml"/><timestamp>1764403200</timestamp><size>9</size></data></repomd>"""


def packages(text):
    return read_primary([text], REPOSITORY, "x86_64")[0]


def test_a_package_is_read_with_what_a_lock_needs():
    [podman] = packages(PODMAN.encode())
    assert (str(podman), podman.filename, podman.size, podman.sha256) == ("podman 5:5.8.8-1.el9", "p/podman.rpm", 10, "a" * 64)
    assert [str(relation) for group in podman.depends for relation in group] == ["crun (>= 1.8)"]
    assert [str(relation) for relation in podman.provides] == ["podman (= 5:5.8.8-1.el9)"]


@pytest.mark.parametrize("arch", ["i686", "src", "aarch64"])
def test_a_package_of_another_architecture_is_none_of_ours(arch):
    assert packages(PODMAN.replace(">x86_64<", f">{arch}<").encode()) == ()


@given(size=st.integers(1, 200))
def test_how_the_text_is_cut_does_not_matter(size):
    text = PODMAN.encode()
    assert read_primary([text[start : start + size] for start in range(0, len(text), size)], REPOSITORY, "x86_64")[0] == packages(text)


@pytest.mark.parametrize(("read", "good"), [(packages, PODMAN.encode()), (read_repomd, REPOMD.encode())])
@given(data=st.data())
def test_any_bytes_are_read_or_refused(read, good, data):
    place, count = data.draw(st.integers(0, len(good))), data.draw(st.integers(0, 40))
    with suppress(LockError):
        read(good[:place] + data.draw(st.binary(max_size=20)) + good[place + count :])


@pytest.mark.parametrize("encoding", ["no-such", "utf-7", "cp037"])
def test_an_encoding_that_cannot_be_read_is_refused(encoding):
    with pytest.raises(LockError, match=r"its primary[.]xml is not XML"):
        packages(f'<?xml version="1.0" encoding="{encoding}"?><metadata/>'.encode())
