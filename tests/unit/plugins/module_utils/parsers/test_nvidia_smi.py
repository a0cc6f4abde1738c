"""nvidia-smi's table and log, of all ages, whole and in parts."""

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvidia, nvidia_smi
from hypothesis import given
from hypothesis import strategies as st

OF_2023 = """
| NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |
|-------------------------------+----------------------+----------------------+
|   6  NVIDIA A100 80G...  On   | 00000000:D5:00.0 Off |                    0 |
| N/A   35C    P0    61W / 300W |      0MiB / 80994MiB |      0%      Default |
|                               |                      |             Disabled |
+-------------------------------+----------------------+----------------------+
|   7  NVIDIA A100 80G...  Off  | 00000000:D6:00.0 Off |                 ERR! |
|ERR!  ERR! ERR!      1W /  N/A |      0MiB / 80994MiB |    ERR!      Default |
|                               |                      |                 ERR! |
"""
OF_2025 = """
|   0  NVIDIA H100 NVL                On  |   00000000:33:00.0 Off |                    2 |
| N/A   43C    P0             59W /  400W |       0MiB /  95830MiB |      0%      Default |
|                                         |                        |             Disabled |
"""
OLD = """
|   0  Tesla K80           Off  | 00001128:00:00.0 Off |                    0 |
| N/A   41C    P0    70W / 149W |      0MiB / 11441MiB |      0%      Default |
"""


def test_rows_of_all_ages():
    good, bad = nvidia_smi.table(OF_2023)
    assert (good.index, good.name, good.pci, good.persistence, good.ecc, good.errors) == (6, "NVIDIA A100 80G...", "0000:d5:00.0", "On", "0", 0)
    assert (bad.pci, bad.persistence, bad.ecc, bad.errors) == ("0000:d6:00.0", "Off", "ERR!", 6)
    assert [(row.name, row.ecc) for row in nvidia_smi.table(OF_2025)] == [("NVIDIA H100 NVL", "2")]
    assert [row.pci for row in nvidia_smi.table(OLD)] == ["1128:00:00.0"]


TEXT = """==============NVSMI LOG==============

Driver Version                            : 580.95.05
GPU 00000000:3B:00.0
    Product Name                          : NVIDIA A100
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 2
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Clocks Event Reasons
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Not Active
GPU 00000000:AF:00.0
    Product Name                          : NVIDIA A100
"""
XML = """<?xml version="1.0" ?><nvidia_smi_log><driver_version>580.95.05</driver_version>
<gpu id="00000000:3B:00.0"><product_name>NVIDIA A100</product_name>
<remapped_rows><remapped_row_unc>2</remapped_row_unc><remapped_row_pending>Yes</remapped_row_pending></remapped_rows></gpu>
<gpu id="00000000:AF:00.0"><product_name>NVIDIA A100</product_name></gpu></nvidia_smi_log>"""


def test_text_and_xml_say_the_same():
    for text in (TEXT, XML):
        first, second = nvidia_smi.log(text)
        assert (first.pci, second.pci) == ("0000:3b:00.0", "0000:af:00.0")
        assert first.value(r"remapped rows/(?:pending|remapped row pending)$") == "Yes"
        assert second.value("remapped rows") is None
    assert nvidia_smi.log(TEXT)[0].values["clocks event reasons/hw thermal slowdown"] == "Not Active"


def test_a_part_without_its_gpu_is_one_log():
    (part,) = nvidia_smi.log("    vGPU Software Licensed Product\n        License Status                    : Unlicensed\n")
    assert (part.pci, dict(part.values)) == ("", {"vgpu software licensed product/license status": "Unlicensed"})


def test_a_query_is_read_whatever_was_asked_for():
    assert nvidia_smi.csv("driver_version\n610.57.04\n") == ({"driver_version": "610.57.04"},)
    assert nvidia_smi.csv("index, power.draw [W]\n0, [Unknown Error]\n") == ({"index": "0", "power.draw": "[Unknown Error]"},)
    assert nvidia_smi.csv("") == ()


def test_packages_of_each_package_manager():
    dpkg = "ii  libnvidia-compute-550:amd64  550.107.02-0ubuntu0.24.04.1  amd64\n"
    dpkg += "rc  nvidia-utils-470  470.1.2-1 amd64\nii  nvidia-container-toolkit 1.17.5-1 amd64\n"
    assert nvidia.driver_packages(dpkg) == {"libnvidia-compute-550": "550.107.02"}
    assert nvidia.driver_packages("nvidia-340/focal-updates,now 340.108-0ubuntu5.20.04.1 amd64 [installed]\n") == {"nvidia-340": "340.108"}
    rpms = "kmod-nvidia-latest-dkms-535.54.03-1.el7.x86_64\nnvidia-driver-latest-dkms-libs-535.54.03-1.el7.x86_64\nlibnvidia-container-tools-1.4.0-1.x86_64\n"
    assert nvidia.driver_packages(rpms) == {"kmod-nvidia-latest-dkms": "535.54.03", "nvidia-driver-latest-dkms-libs": "535.54.03"}


@given(st.text())
def test_no_text_is_an_error(text):
    for table in (text, OF_2023[: len(text)] + text, TEXT + text, XML + text):
        assert nvidia_smi.table(table) is not None and nvidia_smi.log(table) is not None and nvidia_smi.csv(table) is not None
    assert nvidia.driver_packages(text) is not None
