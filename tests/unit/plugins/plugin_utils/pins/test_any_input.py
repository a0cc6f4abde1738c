"""Whatever is given, check_pins answers; it never raises."""

import datetime

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.change import changed
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.files import check_file
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.plugins.plugin_utils.pins.generated import PIN_SETS, words
from tests.unit.plugins.plugin_utils.pins.sets import BASE, TODAY

LEAVES = st.none() | st.booleans() | st.integers(-10, 10**6) | st.floats() | st.text(max_size=20) | st.dates()
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12) | st.integers(), inner, max_size=4), max_leaves=20
)
PLACES = words(
    "os os.distribution os.release os.arch os.cgroup gpus gpus[0] gpus[0].model gpus[0].count kernel kernel.version nvidia_driver"
    " nvidia_driver.version container_toolkit container_engine docker docker.version docker.containerd canary_image canary_image.reference"
    " canary_image.cuda workload_images mig fabric_manager unknown"
)
VERSIONS = st.text("0123456789.+:~*-_aelrcdb", min_size=1, max_size=24).map(lambda text: f"5{text}")
VERSION_PLACES = ("kernel.version", "nvidia_driver.version", "container_toolkit.version", "docker.version", "docker.containerd", "docker.runc", "imex.version")


@given(ANYTHING)
def test_any_value_gets_a_report(value):
    assert check(value, TODAY).outcome == "fail"


@settings(deadline=None)
@given(st.sampled_from(PLACES), ANYTHING)
def test_any_value_at_any_place_gets_a_report(place, value):
    assert check(changed(BASE, {place: value}), TODAY).as_dict()["schema"] == "goldnode.check_pins/v1"


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(VERSION_PLACES), VERSIONS))
def test_any_version_gets_a_report(versions):
    assert check(changed(BASE, versions), TODAY).outcome in ("pass", "fail")


@settings(deadline=None)
@given(PIN_SETS, st.dates(datetime.date(2020, 1, 1), datetime.date(2035, 1, 1)))
def test_any_pin_set_on_any_day_gets_a_report(whole, today):
    check(whole, today)


@given(
    st.text(max_size=200) | st.sampled_from(["goldnode_pins: &a [*a]", "goldnode_pins: {a: 2026-13-45}", "goldnode_pins: !!python/none {}", "[1: 2", "\x00"])
)
def test_any_text_gets_a_report(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "pins.yml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    assert check_file(path, TODAY).outcome == "fail"


def test_a_file_that_is_no_text_gets_a_report(tmp_path):
    (tmp_path / "pins.yml").write_bytes(b"\xff\xfe\x00")
    assert check_file(tmp_path / "pins.yml", TODAY).outcome == "fail"
    assert "is not there" in check_file(tmp_path / "none.yml", TODAY).statements[0].reason
