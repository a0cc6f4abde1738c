from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import pool_problems, pools, problems


def groups(**others):
    return {"all": ["c", "b", "p"], "a": ["c", "b", "p"], "a_canary": ["c"], "a_baseline": ["b"], "a_production": ["p"], **others}


def test_a_pool_is_a_group_with_its_three_children():
    assert pools(groups()) == ["a"]
    assert pool_problems(groups(), "a") == []


def test_a_host_in_two_pools_is_an_error():
    two = groups(z=["p", "q"], z_canary=["q"], z_baseline=[], z_production=["p"])
    assert problems(two) == ["host p is in two pools, a and z; leave it in one"]


def test_a_host_in_none_of_the_children_is_an_error():
    assert problems(groups(a=["c", "b", "p", "x"])) == ["host x is in pool a but in none of a_canary, a_baseline, a_production; put it into one"]


def test_a_host_in_two_children_is_an_error():
    assert problems(groups(a_production=["p", "c"])) == ["host c is in more than one of a_canary, a_baseline, a_production; leave it in one"]


def test_a_pool_that_lacks_a_child_is_an_error():
    lacking = groups()
    del lacking["a_baseline"], lacking["a_production"]
    lacking["a"] = ["c"]
    assert problems(lacking) == [f"pool a lacks the child group a_{arm}; a pool has a_canary, a_baseline, a_production" for arm in ("baseline", "production")]


def test_a_wanted_pool_that_is_none_is_said_to_be_none():
    assert pool_problems(groups(), "b") == ["pool b is not a group of the inventory; its pools are a; give the inventory by -i …/hosts.yml"]
    assert pool_problems(groups(web=["c"]), "web") == ["group web is not a pool; it needs the children web_canary, web_baseline, web_production"]


def test_an_empty_child_is_no_error():
    assert problems(groups(a=["c", "p"], a_baseline=[])) == []
