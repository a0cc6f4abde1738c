import bz2
import gzip
import hashlib
import http.server
import lzma
import re
import subprocess
import threading
from functools import partial

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError, dnf
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.dnf import good_signers, meaning, read_index
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HALF_SYNCED = "the mirror is half synced or damaged"


def read(repository, tmp_path, **other):
    folder = tmp_path / "fetched"
    folder.mkdir()
    return read_index(repository.configured(**other), "x86_64", folder)


def refusal(repository, tmp_path, **other):
    with pytest.raises(LockError) as refused:
        read(repository, tmp_path, **other)
    said = str(refused.value)
    assert "\n" not in said and said.endswith(".")
    return said


def rewrite(repository, pattern, replacement):
    """Changes repomd.xml, and signs it again."""
    text, count = re.subn(pattern, replacement, repository.repomd.read_text(), flags=re.DOTALL)
    assert count
    repository.repomd.write_text(text)
    repository.sign()


def replace_primary(repository, content, suffix):
    """Another primary.xml file, which repomd.xml names as it is."""
    name = f"repodata/primary{suffix}"
    (repository.folder / name).write_bytes(content)
    checksum = hashlib.sha256(content).hexdigest()
    data = f'<checksum type="sha256">{checksum}</checksum><location href="{name}"/><timestamp>1764400000</timestamp><size>{len(content)}</size>'
    rewrite(repository, r'<data type="primary">.*?</data>', f'<data type="primary">{data}</data>')


def test_a_signed_repository_is_read_with_its_identity(own_rpm, tmp_path):
    index = read(own_rpm, tmp_path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", index.identity.pop("date"))
    assert index.identity == {
        "name": "own",
        "uris": [f"file:{own_rpm.folder}"],
        "suites": ["/"],
        "components": [],
        "origin": "Rocky",
        "label": "own",
        "key_fingerprint": own_rpm.key.fingerprint,
        "snapshot": file_digest(own_rpm.repomd),
    }
    assert {package.name: package.version for package in index.packages} == {"crun": "1.27-1.el9", "runc": "4:1.3.6-1.el9"}


def test_a_package_is_the_file_that_the_metadata_names(own_rpm, tmp_path):
    for package in read(own_rpm, tmp_path).packages:
        file = own_rpm.folder / package.filename
        assert (package.size, f"sha256:{package.sha256}") == (file.stat().st_size, file_digest(file))
        assert (package.repository, package.origin, package.architecture, package.layer) == ("own", "Rocky", "x86_64", "engine")


def test_the_date_is_the_revision_where_that_is_a_time(own_rpm, tmp_path):
    own_rpm.options = ("--revision", "1764403200")
    own_rpm.publish()
    assert read(own_rpm, tmp_path).identity["date"] == "2025-11-29T08:00:00Z"


def test_the_date_is_the_newest_timestamp_where_the_revision_is_a_name(own_rpm, tmp_path):
    own_rpm.options = ("--revision", "9.6")
    own_rpm.publish()
    rewrite(own_rpm, r"<timestamp>\d+</timestamp>", "<timestamp>1764403200</timestamp>")
    assert read(own_rpm, tmp_path).identity["date"] == "2025-11-29T08:00:00Z"


@pytest.mark.parametrize(
    ("pack", "suffix"),
    [
        (gzip.compress, ".xml.gz"),
        (lzma.compress, ".xml.xz"),
        (bz2.compress, ".xml.bz2"),
        (lambda text: subprocess.run(["zstd", "-c"], input=text, capture_output=True, check=True).stdout, ".xml.zst"),
        (bytes, ".xml"),
    ],
)
def test_primary_is_read_however_it_is_packed(own_rpm, tmp_path, pack, suffix):
    replace_primary(own_rpm, pack(gzip.decompress(own_rpm.primary.read_bytes())), suffix)
    assert len(read(own_rpm, tmp_path).packages) == 2


@pytest.mark.parametrize("suffix", [".xml.gz", ".xml.xz", ".xml.bz2", ".xml.zst"])
def test_what_cannot_be_unpacked_is_refused(own_rpm, tmp_path, suffix):
    replace_primary(own_rpm, b"no such thing", suffix)
    assert "its primary.xml cannot be unpacked" in refusal(own_rpm, tmp_path)


def test_an_unknown_packing_is_refused(own_rpm, tmp_path):
    replace_primary(own_rpm, b"x", ".xml.zck")
    assert "packed as .zck; accepted: .gz, .xz, .bz2, .zst, .xml" in refusal(own_rpm, tmp_path)


def test_zstd_that_is_not_there_is_named(own_rpm, tmp_path, monkeypatch):
    def nowhere(*_args, **_options):
        raise FileNotFoundError("zstd")

    replace_primary(own_rpm, b"x", ".xml.zst")
    monkeypatch.setattr(dnf.subprocess, "Popen", nowhere)
    with pytest.raises(LockError, match="install the package zstd"):
        list(dnf._unpacked(own_rpm.folder / "repodata/primary.xml.zst"))


def test_what_unpacks_to_more_than_any_index_is_refused(own_rpm, tmp_path, monkeypatch):
    monkeypatch.setattr(dnf, "_UNPACKED_LIMIT", 1000)
    assert "primary.xml is larger than 1000 bytes" in refusal(own_rpm, tmp_path)


def test_a_repository_that_another_key_signed_is_refused(own_rpm, tmp_path, other_key):
    said = refusal(own_rpm, tmp_path, key=Key("lab", other_key.fingerprint, other_key.public_key))
    assert said == f"repository own (file:{own_rpm.folder}): it is not signed by the key lab of trust.yml."


def test_a_key_with_another_fingerprint_is_refused_before_anything_is_fetched(own_rpm, tmp_path, other_key):
    said = refusal(own_rpm, tmp_path, uri="file:/nowhere", key=Key("lab", other_key.fingerprint, own_rpm.key.public_key))
    assert said.startswith(f"trust.yml: the public key lab holds {own_rpm.key.fingerprint}; its fingerprint is stated as {other_key.fingerprint}")


def test_an_unsigned_repository_is_refused(own_rpm, tmp_path):
    own_rpm.repomd.with_name("repomd.xml.asc").unlink()
    place = f"file:{own_rpm.folder}"
    said = f"it is not signed: it has no repodata/repomd.xml.asc ({place}/repodata/repomd.xml.asc: No such file or directory)."
    assert refusal(own_rpm, tmp_path) == f"repository own ({place}): {said}"


def test_a_text_that_is_no_signature_is_refused(own_rpm, tmp_path):
    own_rpm.repomd.with_name("repomd.xml.asc").write_text("<html>not found</html>")
    assert "its repomd.xml.asc holds no signature" in refusal(own_rpm, tmp_path)


def test_an_index_that_was_changed_after_signing_is_refused(own_rpm, tmp_path):
    own_rpm.repomd.write_text(own_rpm.repomd.read_text() + "\n")
    assert "its repomd.xml is not the one that was signed" in refusal(own_rpm, tmp_path)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), which=st.sampled_from(["repomd", "primary"]))
def test_any_changed_byte_is_refused(data, which, own_rpm, tmp_path_factory):
    path = getattr(own_rpm, which)
    good = path.read_bytes()
    place, other = data.draw(st.integers(0, len(good) - 1)), data.draw(st.integers(1, 255))
    path.write_bytes(good[:place] + bytes([good[place] ^ other]) + good[place + 1 :])
    try:
        assert HALF_SYNCED in refusal(own_rpm, tmp_path_factory.mktemp("changed"))
    finally:
        path.write_bytes(good)


@pytest.mark.parametrize("change", [lambda good: good[:-1], lambda good: good + b"\0"])
def test_a_file_of_another_size_is_refused(own_rpm, tmp_path, change):
    own_rpm.primary.write_bytes(change(own_rpm.primary.read_bytes()))
    assert HALF_SYNCED in refusal(own_rpm, tmp_path)


def test_of_an_endless_file_no_more_is_fetched_than_there_can_be(own_rpm, tmp_path):
    with own_rpm.primary.open("ab") as file:
        file.truncate(2**30)
    assert HALF_SYNCED in refusal(own_rpm, tmp_path)
    assert (tmp_path / "fetched" / "primary.gz").stat().st_size < 2**20


def test_a_primary_that_is_not_there_yet_is_refused(own_rpm, tmp_path):
    own_rpm.primary.unlink()
    assert re.search(rf"its repomd.xml names repodata/\S+, which is not there: {HALF_SYNCED}", refusal(own_rpm, tmp_path))


def test_a_weak_checksum_is_refused(own_rpm, tmp_path):
    rewrite(own_rpm, '<checksum type="sha256">', '<checksum type="sha">')
    assert "its repomd.xml has a checksum of type sha; accepted: sha256, sha384, sha512" in refusal(own_rpm, tmp_path)


@pytest.mark.parametrize(
    ("pattern", "replacement", "sentence"),
    [
        ("<repomd.*", "<repomd", "its repomd.xml is not XML"),
        ('<data type="primary">', '<data type="other">', "its repomd.xml names no primary.xml"),
        (r"<timestamp>.*?</timestamp>|<revision>.*?</revision>", "", "its repomd.xml does not say when it was made"),
        (r"<size>\d+</size>", "<size>many</size>", 'its metadata has "many" where a size is meant'),
        (r"<location [^>]*/>", "", "its metadata lacks location in an element data"),
        (r"<\?xml[^>]*>", '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]>', "its metadata declares the document type x"),
    ],
)
def test_a_signed_index_that_makes_no_sense_is_refused(own_rpm, tmp_path, pattern, replacement, sentence):
    rewrite(own_rpm, pattern, replacement)
    assert sentence in refusal(own_rpm, tmp_path)


def test_a_document_type_in_primary_is_refused_before_it_is_expanded(own_rpm, tmp_path):
    bomb = '<!DOCTYPE bomb [<!ENTITY a "aaaaaaaaaa">' + "".join(f'<!ENTITY {one} "&{other};&{other};">' for one, other in zip("bcdefgh", "abcdefg")) + "]>"
    replace_primary(own_rpm, f'<?xml version="1.0"?>{bomb}<metadata>&h;</metadata>'.encode(), ".xml")
    assert "its metadata declares the document type bomb" in refusal(own_rpm, tmp_path)


@pytest.mark.parametrize(
    ("pattern", "replacement", "sentence"),
    [
        (b"</metadata>", b"", "its primary.xml is not XML"),
        (b'type="sha256" pkgid', b'type="sha" pkgid', "it describes crun by a checksum of type sha; a lock needs SHA-256"),
        (b"<location href", b'<location xml:base="https://elsewhere.example/" href', "its package crun lies at another address, https://elsewhere.example/"),
        (b"<version [^>]*/>", b"", "its metadata lacks version in an element package"),
        (b'<size package="[0-9]+"', b"<size", 'its metadata has "" where a size is meant'),
    ],
)
def test_packages_that_a_lock_cannot_hold_are_refused(own_rpm, tmp_path, pattern, replacement, sentence):
    text, count = re.subn(pattern, replacement, gzip.decompress(own_rpm.primary.read_bytes()))
    assert count
    replace_primary(own_rpm, text, ".xml")
    assert sentence in refusal(own_rpm, tmp_path)


def test_an_index_of_tomorrow_and_later_is_refused(own_rpm, tmp_path):
    own_rpm.options = ("--revision", "9999999999")
    own_rpm.publish()
    assert "its index is of 2286-11-20: this machine's clock is behind" in refusal(own_rpm, tmp_path)


def test_a_repository_of_another_vendor_is_refused(own_rpm, tmp_path):
    said = refusal(own_rpm, tmp_path, origin="NVIDIA")
    assert "it is another than package_sources.yml says: the vendor of its packages is Rocky, expected NVIDIA" in said


def test_a_repository_whose_packages_state_no_vendor_is_known_by_its_key(own_rpm, tmp_path):
    text = re.sub(b"<rpm:vendor>.*?</rpm:vendor>", b"<rpm:vendor/>", gzip.decompress(own_rpm.primary.read_bytes()))
    replace_primary(own_rpm, text, ".xml")
    assert read(own_rpm, tmp_path, origin="NVIDIA").identity["origin"] == "NVIDIA"


def test_the_label_is_one_of_the_tags_where_there_are_any(own_rpm, tmp_path):
    own_rpm.options = ("--repo", "baseos", "--content", "binary-x86_64")
    own_rpm.publish()
    assert "the tag of its repomd.xml is baseos or binary-x86_64, expected appstream" in refusal(own_rpm, tmp_path, label="appstream")


def test_one_of_its_tags_is_a_right_label(own_rpm, tmp_path):
    own_rpm.options = ("--repo", "baseos", "--content", "binary-x86_64")
    own_rpm.publish()
    assert read(own_rpm, tmp_path, label="baseos").identity["label"] == "baseos"


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"uri": "file:/nowhere/at/all"}, "it has no repodata/repomd.xml there: check the address"),
        ({"uri": "http://127.0.0.1:9/"}, "it cannot be reached"),
        ({"uri": "copy:/srv/rpm"}, "its address must begin with https:, http:, file:"),
        ({"suite": "9.6"}, 'write suites: ["/"] and components: []'),
        ({"components": ("BaseOS",)}, 'write suites: ["/"] and components: []'),
    ],
)
def test_a_place_that_is_none_is_refused(own_rpm, tmp_path, other, sentence):
    assert sentence in refusal(own_rpm, tmp_path, **other)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_said):
        pass


@pytest.fixture
def server(own_rpm):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(own_rpm.folder))) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()
        thread.join()


def test_a_repository_is_read_over_http(own_rpm, tmp_path, server):
    assert len(read(own_rpm, tmp_path, uri=f"{server}/").packages) == 2


def test_a_server_without_signature_is_an_unsigned_repository(own_rpm, tmp_path, server):
    own_rpm.repomd.with_name("repomd.xml.asc").unlink()
    assert "it is not signed: it has no repodata/repomd.xml.asc" in refusal(own_rpm, tmp_path, uri=server)


VALID = "[GNUPG:] NEWSIG\n[GNUPG:] {good} A x\n[GNUPG:] VALIDSIG B 2026-11-30 1 0 4 0 1 {digest} 00 A\n"


@pytest.mark.parametrize(
    ("status", "signers", "means"),
    [
        (VALID.format(good="GOODSIG", digest=10), ["A"], ""),
        (VALID.format(good="GOODSIG", digest=2), [], "over a digest that can be forged"),
        (VALID.format(good="EXPKEYSIG", digest=10), [], "the key k of trust.yml, which signs it, has expired"),
        (VALID.format(good="REVKEYSIG", digest=10), [], "was revoked"),
        (VALID.format(good="EXPSIG", digest=10), [], "its signature has expired"),
        ("[GNUPG:] NEWSIG\n[GNUPG:] ERRSIG C 1 10 00 1 9\n[GNUPG:] NO_PUBKEY C\n", [], "it is not signed by the key k"),
        ("[GNUPG:] NEWSIG\n[GNUPG:] ERRSIG C 1 10 00 1 9\n" + VALID.format(good="GOODSIG", digest=8), ["A"], ""),
        ("", [], "it is not signed by the key k"),
    ],
)
def test_what_gpg_says_of_a_signature(status, signers, means):
    assert good_signers(status) == signers
    assert signers or means in meaning(status, "k")
