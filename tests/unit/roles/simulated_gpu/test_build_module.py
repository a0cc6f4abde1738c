import pytest

from tests.unit.roles.simulated_gpu.simulated_gpu_node import FILES, build_module

CATALOGUE_ERROR = "nvidia/os-mlock.c:24:16: error: implicit declaration of function 'follow_pfn'"


@pytest.fixture
def headers(tmp_path, monkeypatch):
    """A folder of headers for 6.12.125; the modules are built beside it."""
    folder = tmp_path / "headers"
    (folder / "include/config").mkdir(parents=True)
    (folder / "include/config/kernel.release").write_text("6.12.125+deb13-amd64\n")
    (folder / "Module.symvers").write_text("0x000000aa\tother\tvmlinux\tEXPORT_SYMBOL\t\n0x1234abcd\tmodule_layout\tvmlinux\tEXPORT_SYMBOL\t\n")
    monkeypatch.chdir(tmp_path)
    return folder


def build(headers, broken, monkeypatch):
    sources = headers.parent / "sources"
    sources.mkdir()
    (sources / "incompatible_kernels").write_text(broken + "\n")
    monkeypatch.setattr(build_module, "__file__", str(sources / "build_module.py"))
    arguments = build_module.arguments_of(["driver", "--headers", str(headers), "--version", "550.163.01", "--license", "NVIDIA"])
    arguments.build(arguments)


def test_all_modules_of_the_driver_are_built_against_the_headers_checksum(headers, monkeypatch):
    build(headers, "7\\..*\tno", monkeypatch)
    for name in ("nvidia", "nvidia-modeset", "nvidia-uvm", "nvidia-drm"):
        assert (headers.parent / f"{name}.ko").read_bytes().count((0x1234ABCD).to_bytes(8, "little") + b"module_layout") == 1


def test_a_kernel_that_the_driver_does_not_know_stops_the_build(headers, monkeypatch):
    with pytest.raises(SystemExit, match="follow_pfn"):
        build(headers, f"6\\.12\\.125.*\t{CATALOGUE_ERROR}", monkeypatch)
    assert not (headers.parent / "nvidia.ko").exists()


def test_headers_without_module_layout_stop_the_build(headers, monkeypatch):
    (headers / "Module.symvers").write_text("0x000000aa\tother\tvmlinux\tEXPORT_SYMBOL\t\n")
    with pytest.raises(SystemExit, match="no module_layout"):
        build(headers, "7\\..*\tno", monkeypatch)


def test_dkms_is_told_to_run_this_program():
    assert "build_module.py driver --headers $kernel_source_dir" in (FILES / "driver/dkms.conf").read_text()
