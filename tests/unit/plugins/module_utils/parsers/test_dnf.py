import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dnf import error_text, parse_available, with_excludes
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.rpm import lock_entry, parse_versions, with_entries

GLOBS = ["nvidia-[!c]*", "nvlsm"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[main]\nexcludepkgs=nvidia-[!c]* nvlsm\n"),
        ("[main]", "[main]\nexcludepkgs=nvidia-[!c]* nvlsm\n"),
        ("[main]\nbest=True", "[main]\nbest=True\nexcludepkgs=nvidia-[!c]* nvlsm\n"),
        ("[main]\nexclude=vim*,\n  emacs\nbest=1\n", "[main]\nbest=1\nexcludepkgs=vim* emacs nvidia-[!c]* nvlsm\n"),
        ("[main]\nbest=1\n[base]\nexclude=x\n", "[main]\nbest=1\nexcludepkgs=nvidia-[!c]* nvlsm\n[base]\nexclude=x\n"),
        ("[main]\n# excludepkgs=x\n", "[main]\n# excludepkgs=x\nexcludepkgs=nvidia-[!c]* nvlsm\n"),
    ],
)
def test_the_family_is_added_to_what_is_excluded_and_once_only(before, after):
    assert with_excludes(before, GLOBS) == after
    assert with_excludes(after, GLOBS) == after


def test_versions_are_newest_first_and_epoch_0_is_none():
    assert parse_available("a 1-1\na 0:2-1\na 2-1\nb 3:1-1\n") == {"b": ["3:1-1"], "a": ["2-1", "1-1"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Last metadata expiration check: now\nError: \n Problem: nothing provides x\n  - y\n", "Problem: nothing provides x; - y"),
        ("error: open of x failed\n", "open of x failed"),
        ("No such command\n", "No such command"),
        ("", "no output"),
    ],
)
def test_an_error_is_told_in_one_line(text, words):
    assert error_text(text) == words


def test_several_versions_of_a_name_are_all_there():
    assert parse_versions("kernel-core:x86_64\t5-1\nkernel-core:x86_64\t5-2\na:noarch\t3:1-1\n") == {
        "kernel-core:x86_64": ["5-1", "5-2"],
        "a:noarch": ["3:1-1"],
    }


def test_an_entry_replaces_those_of_its_name_and_no_other():
    text = "# mine\nnvidia-driver-3:1-1.el9.x86_64\n!nvidia-driver-3:2-1.el9.*\nnvidia-driver-libs-3:1-1.el9.*\n"
    wanted = [lock_entry("nvidia-driver", "3:2-1.el9", "x86_64"), lock_entry("dkms", "3.2-1.el9", "noarch")]
    done = with_entries(text, wanted)
    assert done == "# mine\nnvidia-driver-libs-3:1-1.el9.*\nnvidia-driver-3:2-1.el9.x86_64\ndkms-0:3.2-1.el9.noarch\n"
    assert with_entries(done, wanted) == done
