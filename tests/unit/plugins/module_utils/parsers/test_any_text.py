"""No text, however garbled, makes a parser of the layers kernel and device_nodes raise."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux, module_build, module_load, rpm
from hypothesis import given
from hypothesis import strategies as st

PIECES = st.sampled_from(
    [
        "nvidia",
        "/dev/nvidia0",
        "crw-rw-rw- 1 root root 195, 0 x",
        "File: /dev/nvidia0\n",
        "Access: (0666/crw-rw-rw-)  Uid: (    0/    root)   Gid: (    0/    root)",
        "Device type: c3,0",
        "01:00.0 3D controller: NVIDIA",
        "Kernel driver in use: vfio-pci",
        "kernel headers for kernel 6.1 cannot be found",
        "error: ",
        "x.c:1:2: ",
        "The kernel was built by: gcc\n  You are using: cc",
        "kmod-nvidia-515.48.07-4.18.0-372.9.1-515.48.07-3.el8.x86_64",
        "version magic '' should be ''",
        "ii  a b c",
        ": ",
        "\n",
        "\0",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=30).map("".join))
PARSERS = [
    linux.pci_devices,
    linux.modules,
    linux.packages,
    linux.dkms,
    linux.device_nodes,
    linux.missing_device_nodes,
    linux.character_majors,
    linux.modinfo,
    module_build.build,
    module_build.is_build,
    module_build.is_of_another,
    module_load.lines,
    rpm.packages,
    rpm.built_for,
]


@pytest.mark.parametrize("parse", PARSERS, ids=lambda parse: parse.__name__)
def test_any_text_is_read(parse):
    @given(text=TEXTS)
    def read(text):
        parse(text)

    read()
