from ansible_collections.goldnode.gpu.plugins.modules.toolkit_config import assignments


def test_options_are_written_as_nvidia_ctk_takes_them():
    assert assignments({"b.c": True, "a": "cdi"}) == ["a=cdi", "b.c=true"]
