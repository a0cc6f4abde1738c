import os

import pytest
from hypothesis import settings

from tests.unit.roles.simulated_gpu import gpu_library
from tests.unit.roles.simulated_gpu.simulated_gpu_node import LabNode, boot

# Compiled libraries and programs: on a busy machine one example may take its time.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture
def lab_node(tmp_path, monkeypatch):
    """A node with an A10, kernel 6.12.107, nouveau blocked, and no driver yet. Device nodes are recorded, not made: that needs root."""
    node = LabNode(tmp_path)

    def record(path, mode, device):
        node.device_nodes[str(path.relative_to(node.root / "dev"))] = (os.major(device), os.minor(device))
        path.touch()

    monkeypatch.setattr(boot.os, "mknod", record)
    return node


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A folder with both libraries, compiled once."""
    folder = tmp_path_factory.mktemp("libraries")
    gpu_library.compile_all(folder)
    return folder


@pytest.fixture
def gpu(libraries):
    """A node with one working GPU."""
    return gpu_library.Gpu(libraries)
