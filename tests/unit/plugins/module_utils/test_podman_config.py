import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.podman_config import answer, complaint, drop_in
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


def test_the_drop_in_has_the_nodes_cgroup_manager_and_the_options():
    text = drop_in(2, {"containers": {"shm_size": "8g"}, "engine": {"env": None}}, {"HTTP_PROXY": "http://p"})
    assert text.splitlines()[1:] == ["[containers]", 'shm_size = "8g"', "", "[engine]", 'cgroup_manager = "systemd"']


def test_proxies_are_the_engines_environment():
    assert 'env = ["HTTP_PROXY=http://p", "NO_PROXY=a,b"]' in drop_in(1, {}, {"NO_PROXY": "a,b", "HTTP_PROXY": "http://p"})


def test_a_table_that_containers_conf_does_not_have_is_refused():
    with pytest.raises(RefusedError, match=r"containers\.conf has no table container; expected configmaps, containers, engine"):
        drop_in(2, {"container": {"shm_size": "8g"}}, {})


@pytest.mark.parametrize(
    ("rc", "stderr", "words"),
    [
        (0, "", None),
        (125, "time=x level=error msg=y\nError: reading config: toml: line 3: x\ntime=x level=error msg=z", "Error: reading config: toml: line 3: x"),
    ],
)
def test_what_podman_complains_of_is_its_error(rc, stderr, words):
    assert complaint(rc, stderr) == words


def test_what_podman_says_of_itself_is_read():
    info = {"host": {"cgroupVersion": "v2", "cgroupManager": "systemd"}, "version": {"Version": "5.4.2"}}
    assert answer(info) == {"versions": {"podman": "5.4.2"}, "cgroup": {"version": "2", "driver": "systemd"}}
    assert answer({}) == {"versions": {}, "cgroup": {"version": "", "driver": ""}}
