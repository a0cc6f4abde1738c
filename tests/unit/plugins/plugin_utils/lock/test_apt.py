import re
import shutil
from email.utils import parsedate_to_datetime

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.apt import meaning, read_index
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key, Repository
from debian.deb822 import Deb822


def configured(repository, **other):
    key = Key("lab", repository.key.fingerprint, repository.key.public_key)
    fields = {"uri": f"file:{repository.folder}", "suite": "trixie", "components": ("main",), "origin": "goldnode-lab", "label": "os", "key": key}
    return Repository(name="os", **{**fields, **other})


def refusal(repository, tmp_path):
    with pytest.raises(LockError) as refused:
        read_index(repository, "x86_64", tmp_path)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_signed_repository_is_read_with_its_identity(published, tmp_path):
    index = read_index(configured(published["os"]), "x86_64", tmp_path)
    date = index.identity.pop("date")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", date)
    assert parsedate_to_datetime(Deb822((published["os"].dist / "InRelease").read_text())["Date"]).strftime("%Y-%m-%dT%H:%M:%SZ") == date
    assert index.identity == {
        "name": "os",
        "uris": [f"file:{published['os'].folder}"],
        "suites": ["trixie"],
        "components": ["main"],
        "origin": "goldnode-lab",
        "label": "os",
        "key_fingerprint": published["os"].key.fingerprint,
        "snapshot": file_digest(published["os"].dist / "InRelease"),
    }
    assert "docker.io" in [package.name for package in index.packages]


def test_a_repository_that_another_key_signed_is_refused(published, tmp_path, other_key):
    wrong = configured(published["os"], key=Key("lab", other_key.fingerprint, other_key.public_key))
    assert f"repository os (file:{published['os'].folder} trixie): it is not signed by the key lab of trust.yml" in refusal(wrong, tmp_path)


def test_a_key_with_another_fingerprint_is_refused_before_anything_is_fetched(published, tmp_path, other_key):
    wrong = configured(published["os"], uri="file:/nowhere", key=Key("lab", other_key.fingerprint, published["os"].key.public_key))
    assert refusal(wrong, tmp_path) == (
        f"trust.yml: the public key lab holds {published['os'].key.fingerprint}; its fingerprint is stated as {other_key.fingerprint}. "
        "Ask the vendor which one is right."
    )


def test_text_that_is_no_key_is_refused(published, tmp_path):
    wrong = configured(published["os"], key=Key("lab", "A" * 40, "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"))
    assert "holds no OpenPGP key that gpg can read" in refusal(wrong, tmp_path)


def test_an_expired_index_is_refused(own_os, tmp_path):
    own_os.publish(**{"Valid-Until": "Mon, 01 Jan 2024 00:00:00 UTC"})
    assert "its index is expired" in refusal(configured(own_os), tmp_path)


def test_an_index_that_was_changed_after_signing_is_refused(own_os, tmp_path):
    own_os.publish()
    index = own_os.dist / "main" / "binary-amd64" / "Packages"
    index.write_text(index.read_text().replace("docker.io", "docker.oi"))
    assert "its files do not match its signed index: the mirror is half synced or damaged" in refusal(configured(own_os), tmp_path)


def test_a_repository_that_is_not_there_is_refused(published, tmp_path):
    assert "check address and suite" in refusal(configured(published["os"], uri="file:/nowhere/at/all"), tmp_path)


def test_a_server_that_does_not_answer_is_refused(published, tmp_path):
    # TEST-NET addresses are routed nowhere; port 9 of this machine refuses at once
    assert "it cannot be reached" in refusal(configured(published["os"], uri="http://127.0.0.1:9/"), tmp_path)


def test_an_unsigned_repository_is_refused(own_os, tmp_path):
    own_os.publish()
    text = (own_os.dist / "InRelease").read_text()
    (own_os.dist / "InRelease").unlink()
    (own_os.dist / "Release").write_text(text.partition("\n\n")[2].partition("-----BEGIN PGP SIGNATURE")[0])
    assert "repository os" in refusal(configured(own_os), tmp_path)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"label": "nvidia"}, 'Label is "os", expected "nvidia"'),
        ({"origin": "Debian"}, 'Origin is "goldnode-lab", expected "Debian"'),
    ],
)
def test_a_repository_of_another_identity_is_refused(published, tmp_path, other, reason):
    assert reason in refusal(configured(published["os"], **other), tmp_path)


def test_a_mirror_that_serves_another_suite_is_refused(own_os, tmp_path):
    own_os.publish()
    shutil.move(own_os.dist, own_os.dist.with_name("sid"))
    assert "expected" in refusal(configured(own_os, suite="sid"), tmp_path)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (
            "W: GPG error: x InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 7638",
            "not signed by the key k",
        ),
        (
            "E: OpenPGP signature verification failed: http://x InRelease: Sub-process /usr/bin/sqv returned an error code (1), Missing key 04B5",
            "not signed by the key k",
        ),
        ("E: Release file for http://x/InRelease is expired (invalid since 3d). Updates for this repository will not be applied.", "index is expired"),
        ("E: Release file for http://x/InRelease is not valid yet (invalid for another 2h).", "clock is behind"),
        ("E: Failed to fetch http://x/InRelease  Could not connect to x:80 (10.0.0.1), connection timed out", "cannot be reached"),
        ("E: The repository 'http://x trixie Release' does not have a Release file.", "has no index there"),
        ("E: something that apt never said before", "apt refuses it"),
    ],
)
def test_what_apt_says_is_put_into_one_sentence(said, means):
    assert means in meaning(said, "k")


def test_silence_of_apt_is_said_to_be_silence():
    assert meaning("", "k") == "apt refuses it (apt: apt gave no reason)"


def test_only_a_dated_snapshot_may_be_past_its_last_day(own_os, tmp_path):
    own_os.publish(**{"Valid-Until": "Mon, 01 Jan 2024 00:00:00 UTC"})
    assert "docker.io" in [package.name for package in read_index(configured(own_os, dated=True), "x86_64", tmp_path).packages]


@pytest.mark.parametrize(
    "setting", ['Acquire::Min-ValidTime "999999999";', 'APT::Update::Pre-Invoke {"touch %s/hook"};', 'Acquire::AllowInsecureRepositories "true";']
)
def test_nothing_but_its_way_to_the_net_is_taken_of_the_machines_own_configuration(own_os, tmp_path, monkeypatch, setting):
    machine = tmp_path / "apt.conf"
    machine.write_text(setting.replace("%s", str(tmp_path)) + "\n")
    monkeypatch.setenv("APT_CONFIG", str(machine))
    own_os.publish(**{"Valid-Until": "Mon, 01 Jan 2024 00:00:00 UTC"})
    (tmp_path / "read").mkdir()
    assert "its index is expired" in refusal(configured(own_os), tmp_path / "read")
    assert not (tmp_path / "hook").exists()
