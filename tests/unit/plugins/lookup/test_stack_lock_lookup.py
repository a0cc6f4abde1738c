import pytest
from ansible.errors import AnsibleError
from ansible.plugins.loader import lookup_loader
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock, render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import resolve


@pytest.fixture
def lock(pins, offered):
    settled, chosen = resolve(pins, offered)
    return make_lock("lab_a10", settled, pins, [], chosen)


def look_up(path):
    return lookup_loader.get("goldnode.gpu.stack_lock").run([str(path)], variables={})


def test_a_lock_file_is_returned_whole(tmp_path, lock):
    path = tmp_path / "lab_a10.lock.yml"
    path.write_text(render(lock))
    assert look_up(path) == [lock]


def test_a_hand_edited_lock_is_refused(tmp_path, lock):
    path = tmp_path / "lab_a10.lock.yml"
    path.write_text(render(lock).replace("580.159.03", "580.159.04"))
    with pytest.raises(AnsibleError, match="was changed after lock_stack wrote it"):
        look_up(path)


def test_a_lock_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(AnsibleError, match="is not there; lock_stack writes it"):
        look_up(tmp_path / "none.lock.yml")
