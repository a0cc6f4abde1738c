import json
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.template import Templar
from ansible_collections.goldnode.gpu.plugins.action.image_store import ActionModule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest

KEY = digest_of("a build")


@pytest.fixture
def act(tmp_path):
    def run(**arguments):
        task = Task.load({"name": "Store", "goldnode.gpu.image_store": {"state_dir": str(tmp_path / "state"), **arguments}})
        action = ActionModule(
            task=task, connection=MagicMock(), play_context=PlayContext(), loader=DataLoader(), templar=Templar(DataLoader()), shared_loader_obj=None
        )
        return action.run(task_vars={})

    return run


@pytest.fixture
def files(tmp_path):
    image, manifest = tmp_path / "image", tmp_path / "manifest"
    image.write_bytes(b"image")
    manifest.write_text(json.dumps({"pool": "p"}))
    return image, manifest


def test_a_stored_image_is_read_back_by_its_digest(act, files):
    stored = act(state="present", path=str(files[0]))
    assert (stored["changed"], stored["digest"]) == (True, file_digest(files[0]))
    assert act(state="read", digest=stored["digest"])["path"] == stored["path"]
    assert act(state="listed")["digests"] == [stored["digest"]]


def test_storing_it_again_changes_nothing(act, files):
    act(state="present", path=str(files[0]))
    assert act(state="present", path=str(files[0]))["changed"] is False


def test_a_build_is_found_by_its_key_with_its_manifest(act, files):
    assert act(state="read", key=KEY)["record"] is None
    act(state="present", path=str(files[0]), manifest=str(files[1]), key=KEY, build={"pool": "p", "lock_digest": KEY})
    found = act(state="read", key=KEY)
    assert found["record"]["image_digest"] == found["digest"] == file_digest(files[0])
    assert file_digest(files[1]) == found["record"]["manifest_digest"]
    with open(found["manifest_path"]) as stream:
        assert json.load(stream) == {"pool": "p"}


def test_a_missing_image_is_one_sentence(act):
    with pytest.raises(AnsibleActionFail, match="does not hold"):
        act(state="read", digest=KEY)


@pytest.mark.parametrize(
    "arguments",
    [{"state": "present"}, {"state": "read"}, {"state": "read", "digest": KEY, "key": KEY}, {"state": "present", "path": "/x", "build": {}}, {"state": "gone"}],
)
def test_arguments_that_do_not_belong_together_are_refused(act, arguments):
    with pytest.raises(AnsibleError):
        act(**arguments)
