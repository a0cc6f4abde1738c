import subprocess

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_recipe import build_key, recipe_digest, settings_of, source_of


@pytest.fixture
def collection(tmp_path):
    root = tmp_path / "collection"
    for path in ("roles/docker/tasks/main.yml", "roles/lab_node/tasks/main.yml", "plugins/modules/a.py", "plugins/module_utils/probe.py", "docs/x.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("1")
    return root


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "base.tar"
    path.write_text("base")
    return path


@pytest.mark.parametrize("path", ["roles/docker/tasks/main.yml", "plugins/modules/a.py", "plugins/module_utils/probe.py"])
def test_a_changed_file_that_makes_images_is_another_recipe(collection, base, path):
    before = recipe_digest(collection, base, {})
    (collection / path).write_text("2")
    assert recipe_digest(collection, base, {}) != before


@pytest.mark.parametrize("path", ["roles/lab_node/tasks/main.yml", "docs/x.md", "plugins/modules/__pycache__/a.pyc"])
def test_a_file_that_is_in_no_image_changes_no_recipe(collection, base, path):
    before = recipe_digest(collection, base, {})
    (collection / path).parent.mkdir(exist_ok=True)
    (collection / path).write_text("2")
    assert recipe_digest(collection, base, {}) == before


def test_base_and_settings_are_part_of_the_recipe(collection, base):
    before = recipe_digest(collection, base, {"docker_daemon_options": {}})
    assert recipe_digest(collection, base, {"docker_daemon_options": {"debug": True}}) != before
    base.write_text("another")
    assert recipe_digest(collection, base, {"docker_daemon_options": {}}) != before


def test_the_key_follows_from_lock_and_recipe_alone():
    assert build_key("a", "b") == build_key("a", "b")
    assert len({build_key("a", "b"), build_key("b", "a"), build_key("a", "a")}) == 3


def test_settings_are_the_variables_of_the_roles_without_the_place_of_the_base():
    names = ["docker_daemon_options", "kernel_reboot_allowed", "image_build_base", "goldnode_pins", "ansible_host", "package_sources_repositories"]
    assert settings_of(names) == ["docker_daemon_options", "kernel_reboot_allowed", "package_sources_repositories"]


def git(root, *words):
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    return subprocess.run(["git", "-C", root, *identity, *words], check=True, capture_output=True, text=True).stdout.strip()


def test_the_source_is_the_commit_and_whether_it_was_changed(collection):
    git(collection, "init", "-q")
    git(collection, "add", ".")
    git(collection, "commit", "-qm", "x")
    commit = git(collection, "rev-parse", "HEAD")
    assert source_of(collection) == {"commit": commit, "dirty": False}
    (collection / "docs/x.md").write_text("2")
    assert source_of(collection) == {"commit": commit, "dirty": True}


def test_a_collection_that_is_no_clone_has_no_commit(collection):
    assert source_of(collection) == {"commit": None, "dirty": None}
