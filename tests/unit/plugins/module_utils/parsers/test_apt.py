"""The texts under tests/fixtures/apt were printed by apt 3.0.3 of trixie on 2026-11-30."""

from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.apt import Step, consulted_log, error_text, parse_madison, parse_simulation
from hypothesis import given
from hypothesis import strategies as st

APT = Path(__file__).parents[4] / "fixtures" / "apt"


def steps_of(name):
    return parse_simulation((APT / name).read_text())


def test_a_downgrade_of_held_packages_names_both_versions():
    assert set(steps_of("downgrade_held.txt")) == {Step(name, "550.1-1", "535.1-1") for name in ("nvidia-driver", "nvidia-smi", "libcuda1")}


def test_an_upgrade_of_libraries_alone_removes_the_driver():
    assert Step("nvidia-driver", "550.1-1", None) in steps_of("upgrade_removes_the_driver.txt")


def test_a_new_package_has_no_former_version():
    assert Step("docker.io", None, "26.1.5+dfsg1-9+deb13u1+b1") in steps_of("docker_from_debian.txt")


def test_each_package_of_a_transaction_is_one_step():
    steps = steps_of("kernel_from_debian.txt")
    assert len({step.name for step in steps}) == len(steps) > 1


@pytest.mark.parametrize("name", ["siblings_not_named.txt", "version_not_found.txt", "package_not_found.txt"])
def test_a_refused_transaction_has_no_steps(name):
    assert steps_of(name) == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("version_not_found.txt", "Version '999' for 'nvidia-driver' was not found"),
        ("package_not_found.txt", "Unable to locate package nosuch"),
        ("siblings_not_named.txt", "held broken packages"),
    ],
)
def test_the_error_is_in_apts_own_words(name, words):
    assert words in error_text((APT / name).read_text())


def test_a_failed_build_names_its_log():
    text = (APT / "dkms_build_fails.txt").read_text()
    assert consulted_log(text) == "/var/lib/dkms/nvidia/550.163.01/build/make.log"
    assert consulted_log("Setting up x ...\n") is None


def test_without_an_error_line_the_last_line_speaks():
    assert error_text("one\ntwo\n\n") == "two"
    assert error_text("") == "no output"


def test_madison_lists_versions_newest_first():
    assert parse_madison((APT / "madison.txt").read_text()) == {"nvidia-driver": ["560.1-1", "550.1-1", "535.1-1"], "helper": ["2:2.0", "1.0"]}


def test_madison_leaves_sources_out():
    text = " runc | 1.1.15-2 | http://repository trixie/main amd64 Packages\n runc | 1.1.16-1 | http://repository trixie/main Sources\n"
    assert parse_madison(text) == {"runc": ["1.1.15-2"]}


NAMES = st.sampled_from(["libcuda1", "libcuda1:i386", "linux-image-6.12.117+deb13-amd64", "libstdc++6", "0ad"])
VERSIONS = st.text("0123456789abz.:+~-", min_size=1, max_size=12)
STEPS = st.builds(Step, NAMES, VERSIONS, st.none() | VERSIONS) | st.builds(Step, NAMES, st.none(), VERSIONS)
NOISE = st.sampled_from(["Reading package lists...", "Conf x (1 Debian:13.8/stable [amd64])", "  InstX", "0 upgraded, 1 newly installed", ""])


def printed(step):
    if step.new is None:
        return f"Remv {step.name} [{step.old}] [other:amd64 ]"
    return f"Inst {step.name} {f'[{step.old}] ' if step.old else ''}({step.new} nvidia:trixie [amd64]) []"


@given(st.lists(st.tuples(STEPS, NOISE)))
def test_every_printed_step_is_read_back_whatever_stands_between(pairs):
    text = "\n".join(f"{noise}\n{printed(step)}" for step, noise in pairs)
    assert parse_simulation(text) == tuple(step for step, _ in pairs)


@given(st.text())
def test_no_text_upsets_the_parsers(text):
    parse_simulation(text)
    parse_madison(text)
    assert error_text(text)
