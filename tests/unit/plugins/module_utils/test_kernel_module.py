import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import deciding_line, loaded_names


def test_modules_are_removed_dependents_first():
    text = "nvidia_uvm 1 0\nnvidia_drm 1 2\nnvidia_modeset 1 1 nvidia_drm,\nnvidia 1 3 nvidia_uvm,nvidia_modeset,\nnvme 1 0\n"
    assert loaded_names(text) == ["nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia"]


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("CC x.o\nx.c:3:1: error: too many arguments to function\nmake[2]: *** [x.o] Error 1\n", "x.c:3:1: error: too many arguments to function"),
        ("make: *** No rule to make target 'modules'.  Stop.\nError! Bad return status\n", "make: *** No rule to make target 'modules'.  Stop."),
        ("Error! Your kernel headers for kernel 6.12 cannot be found.\nPlease install\n", "Error! Your kernel headers for kernel 6.12 cannot be found."),
        ("something else\n", "something else"),
        ("", "the build wrote no log"),
    ],
)
def test_the_line_that_decided_is_found(log, line):
    assert deciding_line(log) == line
