"""The nearest change that a refusal offers does what it says."""

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.change import changed
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check, everything
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet
from hypothesis import Phase, given, settings

from tests.unit.plugins.plugin_utils.pins.generated import NEAR_MISSES, PIN_SETS
from tests.unit.plugins.plugin_utils.pins.sets import TODAY, gpus, on, pins, workload

# Shrinking a whole pin set takes minutes and tells little more than the set that was found.
SETTINGS = settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


def refusals(whole):
    return check(whole, TODAY).of("refusal")


def offered(whole, rule):
    return next(one.nearest["change"] for one in check(whole, TODAY).statements if one.rule == f"pins.{rule}")


def settled(whole, refusal):
    left = everything(PinSet(changed(whole, refusal.nearest["change"]), TODAY))
    return all((rule.id, found.place, severity) != (refusal.rule, refusal.place, "refusal") for rule, found, severity in left)


@SETTINGS
@given(PIN_SETS)
def test_the_nearest_change_of_every_refusal_makes_it_vanish(whole):
    for refusal in refusals(whole):
        assert refusal.nearest["change"] is not None, refusal
        assert settled(whole, refusal), refusal


@SETTINGS
@given(NEAR_MISSES)
def test_a_set_that_is_nearly_right_is_brought_to_pass_by_one_change_after_the_other(whole):
    for _turn in range(12):
        found = refusals(whole)
        if not found:
            return
        whole = changed(whole, found[0].nearest["change"])
    raise AssertionError(found)


def test_a_driver_below_the_floor_is_offered_the_fixed_one_of_its_branch():
    assert offered(pins({"nvidia_driver.version": "580.142"}), "driver_security_floor") == {"nvidia_driver.version": "580.159.03"}


def test_the_companions_move_with_the_driver():
    whole = pins(on("ubuntu2404"), gpus("H200", 8, version="580.142"), {"fabric_manager.version": "580.142"})
    assert offered(whole, "driver_security_floor") == {"nvidia_driver.version": "580.159.03", "fabric_manager.version": "580.159.03"}


def test_a_volta_on_595_is_offered_580():
    whole = pins(gpus("V100", 4, version="595.112.07", modules="proprietary"))
    assert offered(whole, "gpu_driver_branch") == {"nvidia_driver.version": "580.178.04"}


def test_a_fix_that_the_kernel_would_break_is_not_offered():
    whole = pins(on("debian13", kernel="7.1.3+deb13-amd64"), {"nvidia_driver.version": "580.142"})
    assert offered(whole, "driver_security_floor") == {"nvidia_driver.version": "580.159.04"}


def test_an_image_that_dropped_the_gpu_is_offered_the_last_that_has_it():
    whole = pins(gpus("V100", 4, modules="proprietary"), workload("13.0"))
    assert offered(whole, "cuda_dropped_gpu") == {"workload_images[0].cuda": "12.9"}


def test_a_gpu_that_no_driver_of_the_pool_serves_is_offered_to_leave():
    whole = pins({"gpus": [{"model": "V100", "count": 2}, {"model": "VR200", "count": 2}], "nvidia_driver.version": "620.70.06"})
    assert offered(whole, "gpu_driver_branch") == {"gpus[0]": None}


def test_gpus_that_want_different_modules_are_parted():
    whole = pins({"gpus": [{"model": "B200", "count": 1}, {"model": "M60", "count": 2}]})
    assert offered(whole, "gpu_kernel_modules") == {"gpus[1]": None}


def test_a_framework_that_is_too_old_for_two_gpus_gets_the_release_that_serves_both():
    whole = pins(workload("13.0", "torch 1.6"), {"gpus": [{"model": "A30", "count": 6}, {"model": "B200", "count": 1}]})
    refusal = next(one for one in refusals(whole) if one.rule == "pins.framework_gpu")
    assert refusal.nearest["change"] == {"workload_images[0].framework": "torch 2.7"}
    assert settled(whole, refusal)
