import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.toolkit_options import assignments, objection


def test_options_are_written_as_nvidia_ctk_takes_them():
    options = {"b.c": True, "a": "cdi", "d": ["x", "y"]}
    assert assignments(options, "1.20.0") == ["a=cdi", "b.c=true", "d=x:y"]
    assert assignments(options, "1.15.0") == ["a=cdi", "b.c=true", "d=x,y"]


@pytest.mark.parametrize(
    ("name", "value", "version", "words"),
    [
        ("nvidia-container-runtime.mode", "cdi", "1.14.0", None),
        ("nvidia-container-runtime.mode", "jit-cdi", "1.18.0", None),
        ("nvidia-container-runtime.mode", "jit-cdi", "1.17.8", "which toolkit 1.17.8 does not know"),
        ("nvidia-container-runtime.mode", "hook", "1.20.0", "accepted: auto, cdi, csv, legacy, jit-cdi"),
        ("nvidia-container-runtime.mode", "csv", "1.20.0", "a Jetson"),
        ("mode", "cdi", "1.20.0", "does not know; accepted: nvidia-container-runtime.mode"),
        ("no-such-key", 1, "1.20.0", "does not know; accepted: accept-nvidia"),
        ("nvidia-container-cli.no-cgroups", True, "1.20.0", "for rootless engines"),
        ("nvidia-container-cli.no-cgroups", False, "1.20.0", None),
        ("accept-nvidia-visible-devices-as-volume-mounts", True, "1.20.0", None),
        ("accept-nvidia-visible-devices-envvar-when-unprivileged", "no", "1.20.0", "expected true or false"),
        ("nvidia-container-runtime.runtimes", "runc", "1.20.0", "expected a list"),
        ("features.allow-ldconfig-from-container", True, "1.20.0", "CVE-2024-0136"),
        ("features.disable-imex-channel-creation", True, "1.16.2", "pin a newer toolkit"),
    ],
)
def test_an_option_is_refused_in_one_sentence_or_taken(name, value, version, words):
    reason = objection({name: value}, version)
    assert reason is None if words is None else words in str(reason)
