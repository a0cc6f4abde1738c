import time
from datetime import datetime, timedelta, timezone

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import calendar_of, plain, seconds_of, slot_start, slots_between, text_of, time_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import SLOTS
from hypothesis import given
from hypothesis import strategies as st

TIMES = st.datetimes(min_value=datetime(2020, 1, 1), max_value=datetime(2040, 1, 1)).map(lambda moment: moment.replace(tzinfo=timezone.utc))


@given(TIMES, st.sampled_from(SLOTS))
def test_a_slot_holds_the_moment_that_it_was_made_from(moment, slot):
    start, length = slot_start(moment, seconds_of(slot)), timedelta(seconds=seconds_of(slot))
    assert start <= moment < start + length
    assert slot_start(start + length / 2, seconds_of(slot)) == start
    assert slots_between(start, start + length, seconds_of(slot)) == 1


@given(TIMES)
def test_texts_keep_the_second_and_sort_as_the_times_do(moment):
    assert time_of(text_of(moment)) == moment.replace(microsecond=0)
    assert text_of(moment) < text_of(moment + timedelta(seconds=1))


def test_a_time_in_another_zone_falls_into_the_utc_slot():
    moment = datetime(2026, 11, 30, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert text_of(slot_start(moment, 3600)) == "2026-11-29T23:00:00Z"


@pytest.mark.parametrize(
    ("slot", "calendar"),
    [
        ("10s", "*-*-* *:*:00/10 UTC"),
        ("1m", "*-*-* *:00/1:00 UTC"),
        ("15m", "*-*-* *:00/15:00 UTC"),
        ("1h", "*-*-* 00/1:00:00 UTC"),
        ("24h", "*-*-* 00/24:00:00 UTC"),
    ],
)
def test_a_timer_fires_at_the_begin_of_each_slot(slot, calendar):
    assert calendar_of(slot) == calendar


@pytest.mark.parametrize("text", ["", "1", "h", "1.5h", "-1s", "01h", "1w"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="no duration"):
        seconds_of(text)


def test_lengths_are_said_in_their_largest_unit():
    assert [plain(seconds) for seconds in (0, 90, 120, 9 * 3600, 86400 * 4)] == ["0 s", "90 s", "2 min", "9 h", "4 d"]


def test_a_time_without_a_zone_is_utc_whatever_the_controllers_zone_is(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert time_of("2026-11-30T12:00:00") == datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
    finally:
        monkeypatch.undo()
        time.tzset()
