import copy

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import SCHEMA, problems, read_pins, versions


def changed(pins, path, value):
    result = copy.deepcopy(pins)
    *parents, last = path.split(".")
    place = result
    for name in parents:
        place = place[name]
    place[last] = value
    return result


def without(pins, path):
    result = copy.deepcopy(pins)
    *parents, last = path.split(".")
    place = result
    for name in parents:
        place = place[name]
    del place[last]
    return result


def test_complete_pins_have_no_problem(pins):
    assert problems(pins) == []


@pytest.mark.parametrize(
    "path",
    ["os", "os.arch", "gpus", "kernel", "kernel.version", "nvidia_driver.modules", "container_toolkit", "container_engine", "docker.runc", "canary_image.cuda"],
)
def test_no_key_has_a_default(pins, path):
    assert problems(without(pins, path))[0].startswith(f"{path} is missing; accepted: ")


@pytest.mark.parametrize(("path", "key"), [("flavour", "flavour"), ("nvidia_driver.kind", "nvidia_driver.kind"), ("docker.buildx", "docker.buildx")])
def test_an_unknown_key_is_named_with_those_that_are_known(pins, path, key):
    [sentence] = problems(changed(pins, path, "x"))
    assert sentence.startswith(f"unknown key {key}; accepted: ")


@pytest.mark.parametrize(
    ("path", "value", "start"),
    [
        ("canary_image.reference", "registry.example/cuda:1.0", 'canary_image.reference is "registry.example/cuda:1.0"; accepted: a container image by digest'),
        ("canary_image.cuda", 12.8, "canary_image.cuda is the number 12.8; accepted: the CUDA version in the image as text in quotes"),
        ("nvidia_driver.version", "latest", 'nvidia_driver.version is "latest"; accepted: one version as text in quotes'),
        ("nvidia_driver.version", 580, "nvidia_driver.version is the number 580; accepted: one version as text in quotes"),
        ("nvidia_driver.modules", "closed", 'nvidia_driver.modules is "closed"; accepted: open or proprietary'),
        ("kernel.version", None, "kernel.version is empty; accepted: one version"),
        ("os.cgroup", 3, "os.cgroup is the number 3; accepted: 1 or 2"),
        ("gpus", {"model": "A10"}, "gpus is {'model': 'A10'}; accepted: a list of {model, count}"),
        ("fabric_manager", {"version": "580.1"}, 'fabric_manager.version is "580.1"; accepted: that of the driver, "580.159.03"'),
    ],
)
def test_a_wrong_value_is_shown_with_what_is_accepted(pins, path, value, start):
    [sentence] = problems(changed(pins, path, value))
    assert sentence.startswith(start)


def test_a_wrong_count_is_named_by_its_place(pins):
    pins["gpus"].append({"model": "A10", "count": "four"})
    assert problems(pins) == ['gpus[1].count is "four"; accepted: how many the node must have, a whole number']


def test_a_range_is_for_lock_stack_only(pins):
    floating = changed(pins, "nvidia_driver.version", "550.*")
    assert problems(floating, ranges=True) == []
    assert problems(floating) == ['nvidia_driver.version is "550.*"; a node needs one exact version. Write it, or let lock_stack choose']


def test_the_pinned_engine_must_be_the_one_that_is_named(pins):
    pins["container_engine"] = "podman"
    assert problems(pins) == [
        "podman is missing, but container_engine is podman; accepted: podman: {version}",
        "docker is pinned, but container_engine is podman; accepted: the mapping podman alone",
    ]


def test_null_says_on_purpose_that_a_pool_has_no_toolkit(pins):
    assert problems(changed(pins, "container_toolkit", None)) == []
    assert problems(changed(pins, "docker", None))[0].startswith("docker is empty")


def test_every_part_of_the_schema_says_what_is_accepted():
    def parts(schema):
        yield schema
        for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
            yield from parts(inner)

    assert [part for part in parts(SCHEMA) if not part.get("description")] == []


def test_every_pinned_version_is_listed_with_its_place(pins):
    pins["extra_modules"] = [{"name": "mlnx", "version": "24.10"}]
    assert dict(versions(pins)) == {
        "kernel.version": "6.12.107+deb13-amd64",
        "nvidia_driver.version": "580.159.03",
        "container_toolkit.version": "1.19.1",
        "docker.version": "26.1.5",
        "docker.containerd": "1.7.24",
        "docker.runc": "1.1.15",
        "extra_modules[0].version": "24.10",
    }


def test_a_refusal_names_file_pool_key_and_the_way_out(tmp_path, pins):
    path = tmp_path / "pins.yml"
    path.write_text(yaml.safe_dump({"goldnode_pins": changed(pins, "nvidia_driver.version", "550.*")}))
    with pytest.raises(LockError) as refused:
        read_pins(path, "a100_train")
    assert str(refused.value) == (
        f'pins.yml of pool a100_train ({path}): nvidia_driver.version is "550.*"; a node needs one exact version. '
        "Write it, or let lock_stack choose: ansible-playbook goldnode.gpu.lock_stack -e pool=a100_train"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "is not there"),
        ("a: [", "cannot be read as YAML"),
        ("[]", "must hold one mapping, goldnode_pins"),
        ("goldnode_pins: {}\nother: 1\n", "it also has other"),
    ],
)
def test_a_file_without_the_one_mapping_is_refused_in_one_sentence(tmp_path, text, reason):
    path = tmp_path / "pins.yml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LockError, match=reason) as refused:
        read_pins(path, "x")
    assert "\n" not in str(refused.value)
