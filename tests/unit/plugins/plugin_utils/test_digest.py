from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, digest_without, file_digest


def test_key_order_does_not_change_a_digest():
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1})


def test_a_mapping_digests_everything_but_its_own_digest():
    assert digest_without({"a": 1, "digest": "x"}) == digest_of({"a": 1})


def test_a_file_digest_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert file_digest(path) == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
