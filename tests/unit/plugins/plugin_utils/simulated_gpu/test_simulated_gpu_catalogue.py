import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.simulated_gpu import catalogue

CONTENT = {
    "revision": "1+goldnode.lab",
    "families": {"driver": {"repository": "nvidia", "variants": [{"version": "1.0"}, {"version": "2.0"}]}},
    "packages": [{"name": "libx1", "family": "driver", "section": "libs", "depends": "y (= @package_version@)", "description": "x"}],
}


def test_every_variant_of_a_family_becomes_a_package():
    assert [package.file_name for package in catalogue.packages(CONTENT)] == ["libx1_1.0-1+goldnode.lab_amd64.deb", "libx1_2.0-1+goldnode.lab_amd64.deb"]


def test_a_package_depends_on_its_siblings_at_its_own_version():
    assert [package.fields["Depends"] for package in catalogue.packages(CONTENT)] == ["y (= 1.0-1+goldnode.lab)", "y (= 2.0-1+goldnode.lab)"]


def test_an_unknown_word_is_refused_by_name():
    with pytest.raises(catalogue.CatalogueError, match="@nothing@"):
        catalogue.fill("a @nothing@ b", {"version": "1"})


def test_an_at_sign_that_is_no_word_stays():
    assert catalogue.fill('ldconfig = "@/sbin/ldconfig"', {}) == 'ldconfig = "@/sbin/ldconfig"'
