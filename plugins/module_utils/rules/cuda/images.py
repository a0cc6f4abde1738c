# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the image itself brings that does not fit: the driver's files, another C library, another platform, another Jetson release, the stub."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_symptoms import NO_GPU, NO_UTILITY
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_symptoms import EXEC_FORMAT, FILE_EXISTS, NVML_MISMATCH, STUB, TEGRA_LIBRARIES
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import complaint, heard, not_seen, without_toolkit

# Packages that bring the driver's user space into an image. Debian, Ubuntu and NVIDIA's repositories.
DRIVER_PACKAGES = (
    r"\b(?:nvidia-opencl-dev|nvidia-opencl-icd[\w-]*|libnvidia-(?!container)[\w-]+|nvidia-(?:driver|utils|smi|kernel|libopencl1|compute-utils|cuda-mps)[\w-]*|libcuda1|cuda-drivers[\w-]*"
    r"|libnvcuvid1|nvidia-current|cuda(?:-\d+-\d+)?(?=[\s,]|$))"
)
WITHOUT_DRIVER = (
    "Rebuild the image without the driver's files: ocl-icd-opencl-dev instead of nvidia-opencl-dev, cuda-toolkit instead of cuda, no nvidia-driver or "
    "libnvidia-* packages; "
    "or delete libcuda.so*, libnvidia-* at the end of the Dockerfile."
)


def driver_packages(facts: Facts) -> str:
    """The packages of the image that bring driver files, where they are stated."""
    listed = " ".join(str(value) for name, value in facts.bundle.stated.items() if re.match(r"(image|container)_\w*(packages|dpkg|apt|dockerfile)", name))
    return ", ".join(dict.fromkeys(re.findall(DRIVER_PACKAGES, listed)))


def on_tegra(facts: Facts) -> bool:
    """Whether the host is a Jetson."""
    return bool(facts.tegra or facts.host_l4t)


@rule(
    "cuda.driver_files_in_image",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom=(
        "mount error: file creation failed: …/libnvidia-ml.so.1: file exists; or a driver/library version mismatch in one image only, while the host is fine."
    ),
    cause="The image brings driver files of its own, which collide with the injected ones or are loaded instead of them.",
    fix=WITHOUT_DRIVER,
    verify="The image without a GPU has no libcuda.so* nor libnvidia-*: docker run --rm IMAGE sh -c 'ldconfig -p | grep -e libcuda.so -e libnvidia-ml'.",
    source="NVIDIA/nvidia-container-toolkit #371, #171; k4yt3x/video2x #1226; tensorflow/build #59",
)
def image_brings_no_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """The image has no driver files of its own"""
    collision = complaint(facts, FILE_EXISTS)
    shadowed = heard(facts, NVML_MISMATCH) if facts.smi_works else None
    if (collision is None and shadowed is None) or without_toolkit(wanted) or (collision and on_tegra(facts)):
        return not_seen(facts, wanted)
    packages = driver_packages(facts)
    by = f" (from {packages} in its Dockerfile)" if packages else ", as packages like nvidia-opencl-dev, libnvidia-compute or nvidia-driver in a Dockerfile do"
    if collision:
        cause = (
            f"The container image brings the driver library {collision[1].group('what')} along{by}: where the hook must create the host's there is a file "
            "already."
        )
        return failed("no driver files in the image", heard(facts, FILE_EXISTS), cause=cause, remedy=WITHOUT_DRIVER)
    cause = (
        f"The container image brings driver libraries of another version than the host's module{by}: the host's nvidia-smi works, the container's own NVML "
        "is found first."
    )
    return failed(f"NVML {facts.driver_version or 'of the host'}", shadowed, cause=cause, remedy=WITHOUT_DRIVER)


@rule(
    "cuda.c_library",
    layer=CUDA,
    probes=(),
    symptom="nvidia-smi: not found in an Alpine container although the file is there; Error loading shared library; no ldconfig in the image.",
    cause=(
        "The driver's programs and libraries need glibc: in a musl image (Alpine) their loader is not there, and in distroless or scratch images no linker "
        "cache is."
    ),
    fix=(
        "Use a glibc image (Debian, Ubuntu, UBI; nvidia/cuda). On Alpine: gcompat and the libraries' folder in /etc/ld-musl-$(arch).path; without ldconfig: "
        "LD_LIBRARY_PATH."
    ),
    verify="nvidia-smi works in the container.",
    source="NVIDIA/nvidia-container-toolkit #1526",
)
def image_has_glibc(facts: Facts, wanted: Wanted) -> Outcome:
    """The image has the C library that the driver's files need"""
    said = heard(
        facts, f"{NO_UTILITY}|{NO_GPU}|Error loading shared library|Error relocating|ld-linux-[\\w-]+\\.so\\.\\d: No such file|no such file or directory"
    )
    if said is None or not facts.musl or without_toolkit(wanted):
        return not_seen(facts, wanted)
    if facts.musl in ("distroless", "scratch", "busybox", "chainguard"):
        cause = (
            f"The image is {facts.musl}, without ldconfig and the usual glibc linker layout (/etc/ld.so.cache): the injected driver libraries are not found."
        )
        return failed("a glibc image with ldconfig", said, cause=cause)
    cause = (
        f"The image is based on musl ({facts.musl}): nvidia-smi and the driver's libraries are glibc binaries, whose loader musl does not have; it reads no "
        "ld.so.cache either."
    )
    return failed("a glibc image", said, cause=cause)


@rule(
    "cuda.jetson_release",
    layer=CUDA,
    probes=("l4t_version",),
    symptom="libnvrm_gpu.so or another Tegra library is not found, or file exists at start, in a container on a Jetson.",
    cause="The image is made for another release of Jetson Linux (L4T, JetPack) than the board runs; its libraries come from the host and must fit.",
    fix="Use an image tag of the board's L4T release (rXX.Y as in /etc/nv_tegra_release), or flash the JetPack that the image needs.",
    verify="The tag's major L4T is that of /etc/nv_tegra_release.",
    source="dusty-nv/jetson-containers #456, #353, #8; OE4T/meta-tegra #770",
)
def jetson_release_fits(facts: Facts, wanted: Wanted) -> Outcome:
    """The image is made for the Jetson Linux of the host"""
    board, image = facts.host_l4t, facts.image_l4t
    said = heard(
        facts, f"{TEGRA_LIBRARIES}|{NO_GPU}|{FILE_EXISTS}|file creation failed: /\\S+: file exists|no kernel image|CUDA error|cannot open shared object"
    )
    if without_toolkit(wanted) or (not on_tegra(facts) and image is None):
        return not_seen(facts, wanted)
    if board and image and (board[0] != image[0] or (said and board[0] == 32 and board[1] not in (None, image[1]))):
        runs = f"R{board[0]}" + (f".{board[1]}" if board[1] is not None else "")
        cause = (
            f"The image is made for L4T R{image[0]}.{image[1]} and the board runs L4T {runs}: Jetson images take the board's Tegra libraries and work only "
            "on their own L4T (JetPack) release: the same major one, on R32 the same minor one too."
        )
        return failed(f"an image for r{board[0]}", said or ", ".join(facts.container_images or ()), cause=cause)
    return not_for_tegra(facts, said) or not_seen(facts, wanted)


def not_for_tegra(facts: Facts, said: str | None) -> Outcome | None:
    """An image for servers on a Jetson before JetPack 7."""
    server = next(
        (
            image
            for image in facts.container_images or ()
            if re.search(r"nvidia/cuda:|nvidia/(?:pytorch|tensorflow|tensorrt|tritonserver):(?!\S*(?:igpu|l4t))", image)
        ),
        None,
    )
    if not (on_tegra(facts) and said and server and (facts.host_l4t is None or facts.host_l4t[0] < 38)):
        return None
    cause = f"The image {server} is made for servers (SBSA), and the board is a Jetson: its integrated GPU needs an L4T or iGPU image of the board's JetPack."
    return failed("an image for L4T", said, cause=cause, confidence="medium")


@rule(
    "cuda.image_platform",
    layer=CUDA,
    probes=("uname_m",),
    symptom="exec format error; the requested image's platform (linux/amd64) does not match the detected host platform (linux/arm64).",
    cause="The container image is built for another processor architecture than the host's.",
    fix="Pull or build the image for the host: docker pull --platform linux/arm64 (amd64), docker buildx build --platform; check docker manifest inspect.",
    verify="docker image inspect -f '{{.Architecture}}' IMAGE agrees with uname -m.",
    source="docs.docker.com/build/building/multi-platform",
)
def platform_is_the_hosts(facts: Facts, wanted: Wanted) -> Outcome:
    """The image is built for the host's processor"""
    said = heard(facts, EXEC_FORMAT)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    machine = (facts.bundle.text("uname_m") or "").strip()
    on = f" The host is {machine}." if machine else ""
    cause = f"The container image is built for another processor architecture (amd64, arm64) than the host's.{on}"
    if re.search(r"platform \(|no matching manifest", said) or machine in ("aarch64", "arm64"):
        return failed("an image for the host's platform", said, cause=cause)
    return failed(
        "an image for the host's platform",
        said,
        cause=cause + " Or its entry point is a script without a #! line, which the kernel refuses in the same words.",
        confidence="medium",
        decided_by="docker image inspect -f '{{.Architecture}} {{.Config.Entrypoint}}' IMAGE, and uname -m",
    )


@rule(
    "cuda.stub_library",
    layer=CUDA,
    probes=(),
    symptom="CUDA driver is a stub library (34).",
    cause="LD_LIBRARY_PATH or the rpath names /usr/local/cuda/lib64/stubs, so the link-time stub is loaded in place of the driver's libcuda.",
    fix="Remove the stubs folder from LD_LIBRARY_PATH and ld.so.conf.d in the image; it is for linking only. If no libcuda is injected, ask for the GPU.",
    verify="ldd or LD_DEBUG=libs shows the host's libcuda.so.1.",
    source="cuda.h of CUDA 13.5; nvidia/cuda devel images",
)
def stub_is_not_loaded(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver's library is loaded, and not the stub"""
    said = heard(facts, STUB)
    return not_seen(facts, wanted) if said is None or without_toolkit(wanted) else failed("the host's libcuda", said)
