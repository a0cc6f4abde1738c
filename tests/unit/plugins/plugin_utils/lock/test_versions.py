import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import DPKG, RPM, is_range, kernel_flavour, kernel_matches, matches, nearest, upstream


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("5:29.9.0-1~debian.13~trixie", "29.9.0"),
        ("26.1.5+dfsg1-9+deb13u1+b1", "26.1.5"),
        ("1.7.24~ds1-6+deb13u1", "1.7.24"),
        ("1.1.15+ds1-2+b4", "1.1.15"),
        ("580.159.03-1+goldnode.lab", "580.159.03"),
        ("580.126.20-0ubuntu0.24.04.1", "580.126.20"),
        ("1.20.0-1", "1.20.0"),
        ("20240109+1", "20240109+1"),
        ("3:580.159.03-1.el9", "580.159.03"),
        ("3:29.9.0-1.el9", "29.9.0"),
        ("5.14.0-570.12.1.el9_6", "5.14.0"),
    ],
)
def test_the_upstream_version_has_no_epoch_revision_or_repacking_mark(version, expected):
    assert upstream(version) == expected


def test_a_pin_means_the_upstream_version_or_the_whole_one():
    assert matches("580.159.03", "580.159.03-1+goldnode.lab")
    assert matches("580.159.03-1+goldnode.lab", "580.159.03-1+goldnode.lab")
    assert not matches("580.159.03", "580.159.04-1")
    assert not matches("580.159", "580.159.03-1")


def test_a_range_means_every_version_that_fits_it():
    assert is_range("580.*") and not is_range("580.159.03")
    assert matches("580.*", "580.159.03-1")
    assert not matches("580.*", "595.71.05-1")


def test_versions_sort_as_dpkg_sorts_them():
    assert sorted(["1.10", "1.9", "1.10~rc1", "1:0.1"], key=DPKG.key) == ["1.9", "1.10~rc1", "1.10", "1:0.1"]


@pytest.mark.parametrize(("operator", "holds"), [("<<", False), ("<=", True), ("=", True), (">=", True), (">>", False)])
def test_each_operator_of_a_dependency_is_understood(operator, holds):
    assert DPKG.satisfies("1.0-1", operator, "1.0-1") is holds


def test_the_nearest_versions_stand_around_the_wanted_one():
    there = ["550.1", "560.1", "570.1", "580.1", "590.1", "600.1"]
    assert nearest("575.1", there, DPKG.key) == ["560.1", "570.1", "580.1", "590.1"]
    assert nearest("700.1", there, DPKG.key) == ["570.1", "580.1", "590.1", "600.1"]
    assert nearest("1.1", [], DPKG.key) == []


def test_a_range_never_means_a_pre_release():
    assert not matches("1.*", "1.21.0~rc.1-1")
    assert matches("1.21.0~rc.1", "1.21.0~rc.1-1")


@pytest.mark.parametrize(
    ("pin", "release", "fits"),
    [
        ("6.12.117+deb13-amd64", "6.12.117+deb13-amd64", True),
        ("6.12.*-amd64", "6.12.117+deb13-amd64", True),
        ("6.12.*-amd64", "6.12.117+deb13-rt-amd64", False),
        ("6.12.*-amd64", "6.12.117+deb13-amd64-unsigned", False),
        ("6.8.0-*-generic", "6.8.0-45-generic", True),
        ("6.8.0-*-generic", "6.8.0-45-generic-64k", False),
        ("6.12.107", "6.12.107+deb13-amd64", False),
        ("6.12.1", "6x12x1", False),
        ("5.14.0-*.el9_6.x86_64", "5.14.0-570.12.1.el9_6.x86_64", True),
        ("5.14.0-*.aarch64", "5.14.0-570.12.1.el9_6.aarch64+64k", False),
    ],
)
def test_a_kernel_range_keeps_the_flavour(pin, release, fits):
    assert kernel_matches(pin, release) is fits


@pytest.mark.parametrize(
    ("release", "flavour"),
    [
        ("6.12.117+deb13-cloud-amd64", "cloud-amd64"),
        ("6.8.0-45-generic", "generic"),
        ("5.14.0-570.12.1.el9_6.x86_64", ""),
        ("5.14.0-570.12.1.el9_6.aarch64+64k", "+64k"),
        ("6.1.150-174.273.amzn2023.x86_64", ""),
    ],
)
def test_the_flavour_of_a_kernel_is_what_is_not_its_numbers(release, flavour):
    assert kernel_flavour(release) == flavour


def test_a_provision_without_version_meets_a_bound_for_rpm_only():
    assert RPM.satisfies("", ">=", "1") and not DPKG.satisfies("", ">=", "1")
