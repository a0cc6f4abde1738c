"""inventories/example is complete: what a site copies must be accepted as it stands."""

from pathlib import Path

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import read_pins
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import pools, problems
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import check_key, read_repositories
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import complete

EXAMPLE = Path(__file__).parents[5] / "inventories" / "example"
POOLS = ["a100_train", "a10_serve"]


@pytest.fixture(scope="module")
def groups():
    return InventoryManager(DataLoader(), [str(EXAMPLE / "hosts.yml")]).get_groups_dict()


def test_every_host_is_in_one_place_of_one_pool(groups):
    assert pools(groups) == POOLS
    assert problems(groups) == []


@pytest.mark.parametrize("pool", POOLS)
def test_the_pins_of_a_pool_are_accepted(pool):
    assert read_pins(PoolFiles(pool, EXAMPLE).pins, pool, ranges=True)["gpus"]


@pytest.mark.parametrize("pool", POOLS)
def test_every_key_of_a_pool_has_the_fingerprint_that_the_trust_states(pool, tmp_path):
    for repository in read_repositories(PoolFiles(pool, EXAMPLE).sources, EXAMPLE / "trust.yml"):
        home = tmp_path / repository.name
        home.mkdir(mode=0o700)
        check_key(repository.key, home)


@pytest.mark.parametrize("pool", POOLS)
def test_the_promotion_policy_of_a_pool_is_accepted_outside_a_lab(pool):
    path = EXAMPLE / "group_vars" / pool / "promotion.yml"
    policy = complete(yaml.safe_load(path.read_text())["goldnode_promotion"], str(path))
    assert policy["minimum_rung"] == "hardware"
