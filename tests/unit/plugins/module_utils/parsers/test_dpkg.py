from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dpkg import Installed, parse_installed

QUERY = (Path(__file__).parents[4] / "fixtures" / "dpkg" / "query.txt").read_text()


def test_a_held_package_is_seen_as_held():
    assert parse_installed(QUERY)["nvidia-smi:amd64"] == Installed("550.1-1", held=True, complete=True)


def test_every_installed_package_is_there():
    assert len(parse_installed(QUERY)) == len(QUERY.splitlines())


def test_an_interrupted_package_is_not_complete():
    assert parse_installed("libcuda1:amd64\t560.1-1\tinstall\thalf-configured\n") == {"libcuda1:amd64": Installed("560.1-1", held=False, complete=False)}


def test_a_removed_package_is_not_there():
    assert parse_installed("libcuda1:amd64\t560.1-1\tdeinstall\tconfig-files\nx:all\t\tunknown\tnot-installed\n") == {}
