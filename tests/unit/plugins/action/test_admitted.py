"""No lock that check_pins refuses becomes a release, and none is refused that it has nothing against."""

from copy import deepcopy
from datetime import datetime, timezone
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible_collections.goldnode.gpu.plugins.action.release import _checked_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.action import Call
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.plugins.conftest import good_pins

from .test_stack_lock import act

NOW = datetime(2026, 12, 1, 6, tzinfo=timezone.utc)
BLACKWELL_ON_PROPRIETARY = {("gpus",): [{"model": "B200", "count": 1}], ("nvidia_driver", "modules"): "proprietary"}
CHOICES = {
    ("gpus",): [[{"model": model, "count": count}] for model in ("A10", "V100", "B200", "H100 SXM5 80GB", "K80") for count in (1, 8)],
    ("nvidia_driver", "version"): ["535.309.01", "550.163.01", "580.159.03", "595.71.05", "620.70.06"],
    ("nvidia_driver", "modules"): ["open", "proprietary"],
    ("container_toolkit",): [{"version": version} for version in ("1.13.5", "1.17.7", "1.19.1", "1.20.0")],
    ("docker", "version"): ["20.10.24", "26.1.5", "29.9.0"],
    ("kernel", "version"): ["6.12.107+deb13-amd64", "7.1.3-amd64", "6.8.0-45-generic"],
    ("canary_image", "cuda"): ["9.0", "12.8", "13.5"],
}


def changed(pins, changes):
    made = deepcopy(pins)
    for path, value in changes.items():
        place = made
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
    return made


def lock_of(pins):
    images = [{"use": "canary", "reference": pins["canary_image"]["reference"], "digest": pins["canary_image"]["reference"].partition("@")[2]}]
    lock = {"schema": "goldnode.lock/v1", "pool": "lab_a10", "pins": pins, "pins_digest": digest_of(pins), "repositories": [], "packages": [], "images": images}
    return {**lock, "digest": digest_without(lock)}


def call(folder: Path, pins, waivers=None):
    (folder / "a.lock.yml").write_text(render(lock_of(pins)))
    if waivers is not None:
        (folder / "waivers.yml").write_text(yaml.safe_dump({"goldnode_waivers": waivers}))
    params = {"pool": "lab_a10", "lock_file": str(folder / "a.lock.yml"), "waivers_file": str(folder / "waivers.yml")}
    return Call(params, MagicMock(), "lab", NOW)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_lock_is_admitted_exactly_if_check_pins_refuses_nothing(data, tmp_path):
    changes = {path: data.draw(st.sampled_from(values)) for path, values in CHOICES.items() if data.draw(st.booleans())}
    pins = changed(good_pins(), changes)
    if check(pins, NOW.date()).outcome == "pass":
        assert _checked_lock(call(tmp_path, pins))["pins"] == pins
    else:
        with pytest.raises(PromotionError, match="check_pins refuses this set"):
            _checked_lock(call(tmp_path, pins))


def test_the_refusal_names_the_rule_and_the_nearest_change(tmp_path):
    with pytest.raises(PromotionError) as refused:
        _checked_lock(call(tmp_path, changed(good_pins(), BLACKWELL_ON_PROPRIETARY)))
    assert "B200" in str(refused.value) and "(pins." in str(refused.value) and "open" in str(refused.value) and "\n" not in str(refused.value)


def test_a_waiver_admits_until_it_expires(tmp_path):
    pins = changed(good_pins(), BLACKWELL_ON_PROPRIETARY)
    rules = {one.rule for one in check(pins, NOW.date()).of("refusal")}
    waivers = [{"rule": rule, "reason": "a test", "expires": "2026-12-31"} for rule in rules]
    assert _checked_lock(call(tmp_path, pins, waivers))
    with pytest.raises(PromotionError, match="check_pins refuses"):
        _checked_lock(call(tmp_path, pins, [{**one, "expires": "2026-11-30"} for one in waivers]))


def test_lock_stack_writes_no_lock_that_check_pins_refuses(site):
    site.pins["nvidia_driver"]["version"] = "570.211.01"
    site.pins["gpus"] = [{"model": "B300", "count": 1}]
    site.write()
    with pytest.raises(AnsibleActionFail, match=r"pins.yml of pool lab_a10 .* check_pins refuses this set: .*B300"):
        act(site, state="present", pool="lab_a10")
    assert not (site.inventory / "locks" / "lab_a10.lock.yml").exists()
