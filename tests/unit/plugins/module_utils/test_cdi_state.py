import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.cdi_state import Host, device_names, stale
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cdi import CdiSpec, library_paths

DRIVER = "580.159.03"
NODES = {"/dev/nvidia0": (195, 0), "/dev/nvidiactl": (195, 255), "/dev/nvidia-uvm": (511, 0)}


def spec(**other):
    return CdiSpec(
        **{"path": "f", "kind": "nvidia.com/gpu", "devices": ("0", "all"), "nodes": frozenset(NODES), "driver_versions": frozenset({DRIVER}), **other}
    )


@pytest.mark.parametrize(
    ("of_spec", "of_host", "words"),
    [
        ({}, {}, None),
        ({"driver_versions": frozenset()}, {}, None),
        ({"devices": ("0", "GPU-1", "all")}, {}, None),
        ({"devices": ()}, {}, "it names no device f"),
        ({"driver_versions": frozenset({"550.163.01"})}, {}, "it is not of driver 580.159.03: it names 550.163.01"),
        ({"driver_versions": frozenset({DRIVER, "550.163.01"})}, {}, "it is not of driver 580.159.03: it names 550.163.01"),
        ({}, {"missing": ["/lib/libcuda.so.580.159.03"]}, "libraries that it mounts are not there: /lib/libcuda.so.580.159.03"),
        ({"nodes": frozenset({*NODES, "/dev/nvidia1"})}, {}, "device nodes that it names are not there: /dev/nvidia1"),
        ({}, {"nodes": {**NODES, "/dev/nvidia1": (195, 1)}}, "it lacks the device nodes /dev/nvidia1"),
        ({"numbered": frozenset({("/dev/nvidia-uvm", 511, 0)})}, {}, None),
        ({"numbered": frozenset({("/dev/nvidia-uvm", 510, 0)})}, {}, "device numbers are others: /dev/nvidia-uvm is 511:0, not 510:0"),
        ({}, {"devices": ["0:0", "0:1"]}, "it lacks the devices 0:0, 0:1"),
        ({"devices": ("0:0", "0:1", "all")}, {}, "it lacks the devices 0"),
        ({"devices": ("0:0", "0:1", "all")}, {"devices": ["0:0"]}, "it offers devices that are not there: 0:1"),
        ({}, {"devices": []}, None),
    ],
)
def test_a_spec_is_stale_when_the_node_is_another(of_spec, of_host, words):
    assert stale(spec(**of_spec), Host(**{"driver": DRIVER, "nodes": NODES, "devices": ["0"], **of_host})) == words


def test_a_gpu_that_is_cut_is_offered_in_its_parts():
    listing = (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n  MIG 3g.20gb     Device  1: (UUID: MIG-2)\n"
        "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n"
    )
    assert device_names(listing) == ["0:0", "0:1", "1"]


def test_libraries_are_known_by_the_drivers_version():
    yaml = "    - hostPath: /usr/lib/x/libcuda.so.580.159.03\n    - hostPath: /usr/lib/x/libnvidia-egl-gbm.so.1.1.2\n"
    assert library_paths(yaml) == ("/usr/lib/x/libcuda.so.580.159.03",)
    assert library_paths('{"hostPath": "/l/libcuda.so.580.159.03", "containerPath": "/x.so.550.1"}') == ("/l/libcuda.so.580.159.03",)
