"""The filter hands over to plugin_utils.canary and turns its sentences into the template's error."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.goldnode.gpu.plugins.filter.declared_runs import FilterModule

FILTER = FilterModule().filters()["declared_runs"]


def test_pool_without_container_toolkit_gives_an_empty_list() -> None:
    assert FILTER({"pins": {"container_toolkit": None}}, nonce="1", slot="s") == []


def test_missing_nonce_is_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="nonce"):
        FILTER({"pins": {}}, slot="s")


def test_lock_without_image_is_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="has no canary container image"):
        FILTER({"pool": "a10", "pins": {"container_toolkit": {}, "container_engine": "docker"}}, nonce="1", slot="s")
