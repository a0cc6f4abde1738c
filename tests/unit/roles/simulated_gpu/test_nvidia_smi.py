import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from tests.unit.roles.simulated_gpu.gpu_library import WRONG_NODE
from tests.unit.roles.simulated_gpu.simulated_gpu_node import load

nvidia_smi = load("driver/nvidia_smi.py", "nvidia_smi")

UUID = "GPU-00000000-0203-0405-0607-08090a0b0c0d"


def test_the_table_shows_driver_cuda_and_gpu(gpu):
    done = gpu.smi()
    assert done.returncode == 0
    assert "| NVIDIA-SMI 580.159.03             Driver Version: 580.159.03     CUDA Version: 13.0     |" in done.stdout
    assert "|   0  NVIDIA A10 " in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith(("|", "+"))]
    assert {len(line) for line in lines} == {91}


def test_a_reading_that_the_gpu_refuses_is_an_error_in_the_table_and_in_a_query(gpu):
    gpu.gpu("0000:0f:00.0", 0, **{"Power Draw": "[Unknown Error]", "Power Limit": "150.00", "Temperature": "[Unknown Error]"})
    assert "ERR! /  150W" in gpu.smi().stdout
    assert gpu.smi("--query-gpu=power.draw,power.limit", "--format=csv,noheader").stdout == "[Unknown Error], 150.00 W\n"


def test_a_failed_row_remapping_is_told(gpu):
    gpu.gpu("0000:0f:00.0", 0, **{"Remapped Failure": "Yes"})
    assert re.search(r"Remapping Failure Occurred +: Yes", gpu.smi("-q").stdout)


def test_the_list_has_name_and_uuid(gpu):
    assert gpu.smi("-L").stdout == f"GPU 0: NVIDIA A10 (UUID: {UUID})\n"


def test_the_list_has_mig_devices_that_can_be_opened(gpu):
    gpu.gpu("0000:0f:00.0", 0, **{"MIG Mode": "Enabled", "MIG 0": "1 0 13 1048576 3g.40gb MIG-a", "MIG 1": "2 0 22 1048576 3g.40gb MIG-b"})
    gpu.node("nvidia-caps/nvidia-cap22")
    assert gpu.smi("-L").stdout.splitlines()[1:] == ["  MIG 3g.40gb         Device  0: (UUID: MIG-b)"]


PROFILES_OF_80_GB = "1g.10gb/19/7/1/9728/0,1,2,3,4,5,6 3g.40gb/9/2/4/40192/0,4 4g.40gb/5/1/4/40192/0"


def test_the_profiles_of_a_gpu_in_mig_mode_are_offered(gpu):
    assert gpu.smi("mig", "-lgip").stdout == "No MIG-enabled devices found.\n"
    gpu.gpu("0000:0f:00.0", 0, **{"MIG Mode": "Enabled", "MIG Profiles": PROFILES_OF_80_GB})
    rows = re.findall(r"^\|\s+(\d+)\s+MIG (\S+)\s+(\d+)\s+(\d+/\d+)", gpu.smi("mig", "-lgip").stdout, re.M)
    assert rows == [("0", "1g.10gb", "19", "7/7"), ("0", "3g.40gb", "9", "2/2"), ("0", "4g.40gb", "5", "1/1")]
    assert gpu.smi("mig", "-lgi").stdout == "No GPU instances found: Not Found\n"


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["3g.40gb", "3g.40gb"], [(1, 4), (2, 0)]),
        (["4g.40gb", "3g.40gb"], [(1, 0), (2, 4)]),
        (["1g.10gb", "4g.40gb", "3g.40gb"], None),  # the first takes the place of the last: the order of creation matters
        (["3g.40gb", "3g.40gb", "3g.40gb"], None),
    ],
)
def test_instances_take_the_highest_free_place(names, places):
    offered = {word.split("/")[0]: word for word in PROFILES_OF_80_GB.split()}
    present = []
    for name in names:
        if present is not None:
            word = SimpleNamespace(field=lambda _key, _otherwise, name=name: offered[name])
            present = nvidia_smi.with_instance(present, next(nvidia_smi.profiles_of(word)))
    assert (present and [(one["gpu_instance"], one["start"]) for one in present]) == places


def test_a_query_prints_csv(gpu):
    done = gpu.smi("--query-gpu=index,name,memory.total,gpu_bus_id", "--format=csv")
    assert done.stdout.splitlines() == ["index, name, memory.total [MiB], gpu_bus_id", "0, NVIDIA A10, 1 MiB, 00000000:0F:00.0"]


def test_a_query_without_units_and_header_prints_bare_values(gpu):
    assert gpu.smi("--query-gpu=memory.total", "--format=csv,noheader,nounits").stdout == "1\n"


def test_an_unknown_field_is_refused(gpu):
    done = gpu.smi("--query-gpu=index,bogus", "--format=csv")
    assert (done.returncode, done.stdout) == (2, 'Field "bogus" is not a valid field to query.\n\n')


def test_the_xml_log_says_the_same_as_the_text_log(gpu):
    tree, text = ET.fromstring(gpu.smi("-q", "-x").stdout), gpu.smi("-q").stdout
    assert tree.findtext("driver_version") == "580.159.03"
    assert tree.findtext("gpu/uuid") == UUID
    assert f"GPU UUID                              : {UUID}" in text
    assert tree.findtext("gpu/fb_memory_usage/total") == "1 MiB"


def test_without_driver_it_says_so(gpu):
    (gpu.folder / "proc/driver/nvidia/version").unlink()
    done = gpu.smi()
    assert done.returncode == 9
    assert done.stdout.startswith("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver")


def test_a_library_of_another_version_is_a_mismatch(gpu):
    gpu.driver("550.163.01")
    done = gpu.smi()
    assert (done.returncode, done.stdout) == (18, "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159\n")


def test_without_any_gpu_node_no_devices_were_found(gpu):
    gpu.node("nvidia0", to=None)
    done = gpu.smi()
    assert (done.returncode, done.stdout) == (6, "No devices were found\n")


def test_a_control_node_with_a_wrong_major_is_an_unknown_error(gpu):
    gpu.node("nvidiactl", to=WRONG_NODE)
    done = gpu.smi("-L")
    assert (done.returncode, done.stdout) == (255, "Failed to initialize NVML: Unknown Error\n")


def test_a_gpu_that_cannot_be_opened_has_no_handle(gpu):
    gpu.node("nvidia0", to=WRONG_NODE)
    assert gpu.smi().stdout == "Unable to determine the device handle for GPU0000:0F:00.0: Unknown Error\n"


def test_without_its_library_it_says_where_to_look(gpu, libraries, tmp_path):
    gpu.folder = tmp_path
    done = gpu.smi()
    assert done.returncode == 12
    assert done.stdout.startswith("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.")


@pytest.mark.parametrize("arguments", [["--bogus"], ["topo", "-m"]])
def test_what_it_cannot_do_it_refuses(gpu, arguments):
    assert gpu.smi(*arguments).returncode == 2


def test_a_changed_fact_is_shown(gpu):
    gpu.gpu("0000:0f:00.0", 0, **{"Link Width": 8, "Remapped Pending": "Yes"})
    assert gpu.smi("--query-gpu=pcie.link.width.current,remapped_rows.pending", "--format=csv,noheader").stdout == "8, Yes\n"
