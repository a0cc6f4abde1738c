import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import make_repositories, primary_fingerprints, read_repositories

KEYS = {"vendor": {"fingerprint": "A" * 40, "public_key": "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"}}


def entry(**other):
    return {
        "name": "os",
        "uris": ["https://mirror.example/debian"],
        "suites": ["trixie"],
        "components": ["main"],
        "origin": "O",
        "label": "L",
        "key": "vendor",
        **other,
    }


def refusal(entries, keys=KEYS):
    with pytest.raises(LockError) as refused:
        make_repositories(entries, keys, "package_sources.yml", "trust.yml")
    return str(refused.value)


def test_repositories_are_sorted_by_name_and_carry_their_key():
    made = make_repositories([entry(name="z"), entry(name="a")], KEYS, "s", "t")
    assert [one.name for one in made] == ["a", "z"]
    assert made[0].key.fingerprint == "A" * 40


def test_a_source_entry_names_the_keyring_that_must_sign_it():
    [one] = make_repositories([entry()], KEYS, "s", "t")
    assert one.entry("amd64", "/k.asc") == (
        "Types: deb\nURIs: https://mirror.example/debian\nSuites: trixie\nComponents: main\nArchitectures: amd64\nSigned-By: /k.asc\n"
    )


def test_a_dated_source_says_so_to_apt_and_needs_a_moment_in_its_address():
    stamped = "https://snapshot.debian.org/archive/debian/20261128T081213Z"
    [one] = make_repositories([entry(uris=[stamped], dated=True)], KEYS, "s", "t")
    assert "\nCheck-Valid-Until: no\n" in one.entry("amd64", "/k.asc")
    assert "is dated, but its address https://mirror.example/debian has no moment such as 20261128T081213Z" in refusal([entry(dated=True)])
    assert "dated is" in refusal([entry(uris=[stamped], dated="yes")])


def test_a_flat_repository_has_no_components():
    [one] = make_repositories([entry(suites=["/"], components=[])], KEYS, "s", "t")
    assert "Components" not in one.entry("amd64", "/k.asc")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([], "the whole is []; accepted: a list of"),
        ([entry(suites=["trixie", "trixie-updates"])], "[0].suites is ['trixie', 'trixie-updates']; accepted: a list with one entry"),
        ([entry(uris=["mirror.example"])], '[0].uris[0] is "mirror.example"; accepted: the repository\'s address'),
        ([entry(uris=["file:/x\nTrusted: yes"])], "accepted: the repository's address"),
        ([entry(uris=["file:/x\n"])], "accepted: the repository's address"),
        ([entry(uris=["file:/a file:/b"])], "accepted: the repository's address"),
        ([entry(suites=["trixie\n"])], "accepted: the suite"),
        ([entry(components=["main\nTrusted: yes"])], "accepted: a component"),
        ([entry(origin="O\nTrusted: yes")], "accepted: a text on one line"),
        ([entry(label="L\x1b[2J")], "accepted: a text on one line"),
        ([entry(signed=False)], "unknown key [0].signed"),
        ([entry(), entry()], "os is the name of more than one repository"),
        ([entry(key="other")], "repository os names the key other; trust.yml has vendor"),
    ],
)
def test_a_wrong_repository_is_refused(entries, reason):
    assert reason in refusal(entries)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ({**KEYS["vendor"], "fingerprint": "aa bb"}, 'fingerprint is "aa bb"; accepted: a fingerprint of 40 hex digits'),
        ({"fingerprint": "A" * 40}, "public_key is missing"),
        ({**KEYS["vendor"], "public_key": "ssh-ed25519 AAAA"}, "accepted: an ASCII-armoured OpenPGP public key"),
    ],
)
def test_a_wrong_key_is_refused(key, reason):
    assert reason in refusal([entry()], {"vendor": key})


def test_both_files_are_read(tmp_path):
    (tmp_path / "s.yml").write_text(yaml.safe_dump({"package_sources_repositories": [entry()]}))
    (tmp_path / "t.yml").write_text(yaml.safe_dump({"goldnode_trust": {"repositories": KEYS}}))
    assert [one.name for one in read_repositories(tmp_path / "s.yml", tmp_path / "t.yml")] == ["os"]
    (tmp_path / "t.yml").unlink()
    with pytest.raises(LockError, match=r"t[.]yml is not there; it must hold the mapping goldnode_trust"):
        read_repositories(tmp_path / "s.yml", tmp_path / "t.yml")


def test_only_primary_keys_have_a_say():
    listing = "pub:-:255:22:AA:1:::-:::sc:\nfpr:::::::::PRIMARY:\nuid:-::::1::X::n::\nsub:-:255:18:BB:1::::::e:\nfpr:::::::::SUBKEY:\n"
    assert primary_fingerprints(listing) == ["PRIMARY"]
