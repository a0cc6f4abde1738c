import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.goldnode.gpu.plugins.filter.slot_timer import FilterModule

slot_timer = FilterModule().filters()["slot_timer"]


def test_an_hour_fires_hourly_with_five_minutes_of_jitter():
    assert slot_timer("1h") == {"calendar": "*-*-* 00/1:00:00 UTC", "length_s": 3600, "jitter_s": 300}


@pytest.mark.parametrize("wrong", ["7m", "", "hourly", None, 60])
def test_what_is_no_slot_length_gets_one_sentence(wrong):
    with pytest.raises(AnsibleFilterError, match="is no slot length; write one of"):
        slot_timer(wrong)
