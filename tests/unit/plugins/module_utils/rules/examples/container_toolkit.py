"""Examples of the rules of layer container_toolkit: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import form, text

PASSING = {}

FAILING = {
    "container_toolkit.version_is_pinned": text("nvidia_ctk_version", "1.20.0", "1.19.1"),
    "container_toolkit.one_version": text("dpkg_l", "nvidia-container-toolkit-base 1.20.0", "nvidia-container-toolkit-base 1.19.1"),
    "container_toolkit.cdi_spec_present": form("cdi_specs", absent=True),
    "container_toolkit.cdi_spec_is_of_driver": text("cdi_specs", "550.163.01", "550.144.03"),
    "container_toolkit.cdi_spec_devices": text("cdi_specs", "/dev/nvidia1", "/dev/nvidia7"),
    "container_toolkit.package_versions": text("dpkg_l", "nvidia-container-toolkit 1.20.0", "nvidia-container-toolkit 1.19.1"),
    "container_toolkit.packages_held": text("dpkg_l", "hi  nvidia-container-toolkit ", "ii  nvidia-container-toolkit "),
}
