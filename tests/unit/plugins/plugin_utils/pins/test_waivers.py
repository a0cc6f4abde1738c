"""A waiver takes a statement out of the way until its last day, and says so."""

import datetime

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.files import check_file
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.waivers import Waiver, waivers

from tests.unit.plugins.plugin_utils.pins.sets import TODAY, pins

PROPRIETARY_620 = pins({"nvidia_driver.version": "620.70.06", "nvidia_driver.modules": "proprietary"})
WRITTEN = {"rule": "pins.kernel_modules_exist", "reason": "a build of our own", "expires": "2026-12-31"}


def waiver(**words):
    read, wrong = waivers([{**WRITTEN, **words}])
    assert wrong == []
    return read


def test_a_valid_waiver_takes_the_refusal_out_and_is_reported():
    report = check(PROPRIETARY_620, TODAY, waiver())
    assert (report.outcome, report.of("refusal")) == ("pass", [])
    found = report.as_dict()["waived"][0]
    assert (found["rule"], found["waiver"]) == ("pins.kernel_modules_exist", WRITTEN)


def test_it_holds_on_its_last_day_and_not_on_the_next():
    last = datetime.date(2026, 12, 31)
    assert check(PROPRIETARY_620, last, waiver()).outcome == "pass"
    report = check(PROPRIETARY_620, last + datetime.timedelta(1), waiver())
    assert report.outcome == "fail"
    assert "expired on 2026-12-31 and counts as none" in {one.rule: one.reason for one in report.of("warning")}["pins.waiver_expired"]


def test_a_waiver_of_one_place_leaves_the_others():
    assert check(PROPRIETARY_620, TODAY, waiver(place="nvidia_driver.modules")).outcome == "pass"
    assert check(PROPRIETARY_620, TODAY, waiver(place="gpus[0]")).outcome == "fail"


def test_a_waiver_that_waives_nothing_is_noted():
    report = check(pins(), TODAY, waiver())
    assert [one.rule for one in report.of("note") if "waiver" in one.rule] == ["pins.waiver_idle"]


def test_the_schema_is_not_waivable():
    assert check({}, TODAY, [Waiver("pins.schema", "no", TODAY)]).outcome == "fail"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("all", 'the whole is "all"; accepted: a list of {rule, reason, expires}'),
        ([{"rule": "pins.mig_gpu", "expires": "2026-12-31"}], "reason is missing"),
        ([{**WRITTEN, "rule": "everything"}], "accepted: the id of a rule of check_pins"),
        ([{**WRITTEN, "expires": "soon"}], "accepted: a day, YYYY-MM-DD"),
        ([{**WRITTEN, "expires": "2026-02-30"}], 'expires is "2026-02-30", which is no day of the calendar'),
        ([{**WRITTEN, "reason": ""}], "accepted: a text"),
    ],
)
def test_a_waiver_without_form_is_one_sentence(value, words):
    read, wrong = waivers(value)
    assert read == []
    assert words in "; ".join(wrong)


def test_the_waivers_beside_the_pins_are_read(tmp_path):
    (tmp_path / "pins.yml").write_text(yaml.safe_dump({"goldnode_pins": PROPRIETARY_620}))
    assert check_file(tmp_path / "pins.yml", TODAY).outcome == "fail"
    (tmp_path / "waivers.yml").write_text("goldnode_waivers: [{rule: pins.kernel_modules_exist, reason: our own build, expires: 2026-12-31}]")
    assert check_file(tmp_path / "pins.yml", TODAY).outcome == "pass"
    (tmp_path / "waivers.yml").write_text("goldnode_waivers: [{rule: pins.kernel_modules_exist}]")
    broken = check_file(tmp_path / "pins.yml", TODAY)
    assert "reason is missing" in broken.of("refusal")[0].reason
