import base64
import json

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from ansible_collections.goldnode.gpu.plugins.module_utils.registry_auths import config_text, record_text, recorded

NGC = {"nvcr.io": {"username": "$oauthtoken", "password": "key:1"}}
AUTH = {"auth": base64.b64encode(b"$oauthtoken:key:1").decode()}


def test_credentials_are_written_beside_what_else_is_there():
    former = json.dumps({"credHelpers": {"x": "y"}, "auths": {"other": {"auth": "a"}}})
    assert json.loads(config_text(former, NGC, set(), "f")) == {"credHelpers": {"x": "y"}, "auths": {"other": {"auth": "a"}, "nvcr.io": AUTH}}


def test_the_same_again_changes_no_byte():
    text = config_text("", NGC, set(), "f")
    assert config_text(text, NGC, {"nvcr.io"}, "f") == text


def test_what_is_no_longer_asked_for_goes_and_what_others_wrote_stays():
    text = config_text(json.dumps({"auths": {"other": {"auth": "a"}}}), NGC, set(), "f")
    assert json.loads(config_text(text, {}, {"nvcr.io"}, "f")) == {"auths": {"other": {"auth": "a"}}}


def test_no_file_is_left_where_all_of_it_was_ours():
    assert config_text(config_text("", NGC, set(), "f"), {}, {"nvcr.io"}, "f") == ""


@pytest.mark.parametrize("former", ["", '{"auths": {}}', '{"auths": {"other": {"auth": "a"}}, "x": 1}'])
def test_where_nothing_is_asked_and_nothing_was_given_the_file_stays(former):
    assert config_text(former, {}, set(), "f") == former


@pytest.mark.parametrize("one", [None, {}, {"username": "u"}, {"username": "u", "password": ""}, "u:p"])
def test_half_a_credential_is_refused_without_showing_it(one):
    with pytest.raises(RefusedError, match=r"nvcr\.io without username or password") as refused:
        config_text("", {"nvcr.io": one}, set(), "f")
    assert "u:p" not in str(refused.value)


def test_names_alone_are_remembered():
    assert recorded(record_text({"b", "a"})) == {"a", "b"}
    assert record_text(set()) == ""
    assert recorded("") == recorded("[1]") == set()
