import importlib
import importlib.util

import pytest
from ansible.errors import AnsibleError
from ansible_collections.goldnode.gpu.plugins import plugin_utils


@pytest.mark.parametrize(("package", "name"), plugin_utils.NEEDED.items())
def test_a_missing_package_of_the_controller_is_named_in_one_sentence(monkeypatch, package, name):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda asked: None if asked == package else found(asked))
    with pytest.raises(AnsibleError, match=f"missing: {name}. Install: pip install {name}$"):
        importlib.reload(plugin_utils)


def test_nothing_is_missing_here():
    assert importlib.reload(plugin_utils).missing == []
