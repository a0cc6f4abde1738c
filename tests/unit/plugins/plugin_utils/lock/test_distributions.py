"""Each supported distribution and way of packaging, resolved from repositories with the vendors' names, to whole package sets.

Names and dependencies: packages.ubuntu.com, Debian's archive metadata, NVIDIA's driver installation guides (families.py has the sources).
"""

import hashlib
from xml.sax.saxutils import quoteattr

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import parse_packages
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import resolve
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.rpm_metadata import read_primary
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key, Repository
from hypothesis import given, settings
from hypothesis import strategies as st

DRIVER, OTHER_DRIVER = "580.159.03", "595.71.05"
TOOLKIT = {"nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container-tools", "libnvidia-container1"}
CE = {"docker-ce", "docker-ce-cli", "containerd.io"}


def digest(*texts):
    return hashlib.sha256(" ".join(texts).encode()).hexdigest()


def packages_text(lines, origin):
    """A Packages file of `name version[: depends]` lines."""
    stanzas = []
    for line in lines:
        head, _, depends = line.partition(": ")
        name, version = head.split()
        fields = {"Package": name, "Version": version, "Architecture": "amd64", "Depends": depends}
        fields |= {"Filename": f"pool/{name}_{version}.deb", "Size": "1000", "SHA256": digest(origin, line)}
        stanzas.append("\n".join(f"{key}: {value}" for key, value in fields.items() if value))
    return "\n\n".join(stanzas) + "\n"


def debs(origin, *lines):
    return list(parse_packages(packages_text(lines, origin), origin.lower(), origin))


def entries(kind, text):
    flags = {"=": "EQ", ">=": "GE"}
    made = []
    for one in filter(None, text.split(", ")):
        name, _, bound = one.partition(" ")
        sign, _, evr = bound.partition(" ")
        epoch, _, rest = evr.rpartition(":")
        ver, _, rel = rest.partition("-")
        where = f' flags="{flags[sign]}" epoch="{epoch or 0}" ver="{ver}"' + (f' rel="{rel}"' if rel else "") if sign else ""
        made.append(f"<rpm:entry name={quoteattr(name)}{where}/>")
    return f"<rpm:{kind}>{''.join(made)}</rpm:{kind}>"


def rpms(vendor, *lines, arch="x86_64"):
    """Packages of a primary.xml of `name evr[: requires]` lines."""
    made = []
    for line in lines:
        head, _, needs = line.partition(": ")
        name, evr = head.split()
        epoch, _, rest = evr.rpartition(":")
        ver, _, rel = rest.partition("-")
        made.append(
            f'<package type="rpm"><name>{name}</name><arch>{arch}</arch><version epoch="{epoch or 0}" ver="{ver}" rel="{rel}"/>'
            f'<checksum type="sha256" pkgid="YES">{digest(vendor, line)}</checksum><size package="10" installed="20" archive="30"/>'
            f'<location href="Packages/{name}-{rest}.rpm"/><format><rpm:vendor>{vendor}</rpm:vendor>'
            f"{entries('requires', needs)}{entries('provides', f'{name} = {evr}')}</format></package>"
        )
    names = 'xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm"'
    text = f'<?xml version="1.0" encoding="UTF-8"?><metadata {names} packages="{len(made)}">{"".join(made)}</metadata>'
    repository = Repository(vendor.lower(), "https://mirror.example", "/", (), vendor, "any", Key("lab", "A" * 40, ""))
    return list(read_primary([text.encode()], repository, arch)[0])


def pins(distribution, kernel, driver, modules, build, arch="x86_64", **other):
    return {
        "os": {"distribution": distribution, "arch": arch},
        "kernel": {"version": kernel},
        "nvidia_driver": {"version": driver, "modules": modules, "build": build},
        "container_toolkit": {"version": "1.19.1"},
        "container_engine": "docker",
        "docker": {"version": "29.9.0", "containerd": "2.4.1", "runc": "1.5.1"},
        **other,
    }


def locked(written, offered):
    return {package.name for package in resolve(written, offered)[1]}


def toolkit(version="1.19.1-1"):
    return [f"{name} {version}" for name in sorted(TOOLKIT)]


def docker_ce(end):
    return debs(
        "Docker", f"docker-ce 5:29.9.0-1~{end}: containerd.io (>= 2.1.5), docker-ce-cli", f"docker-ce-cli 5:29.9.0-1~{end}", f"containerd.io 2.4.1-1~{end}"
    )


# --- Ubuntu
# release -> end of the archive's versions, the kernel's numbers, docker-ce's end, whether linux-modules-extra is a package of its own
UBUNTU = {
    "22.04": ("0ubuntu0.22.04.1", "5.15.0-160", "ubuntu.22.04~jammy", True),
    "24.04": ("0ubuntu0.24.04.1", "6.8.0-90", "ubuntu.24.04~noble", True),
    "26.04": ("0ubuntu0.26.04.1", "7.0.0-20", "ubuntu.26.04~resolute", False),
}
FLAVOURS = ("generic", "generic-64k", "aws", "azure", "gcp", "oracle", "nvidia", "lowlatency")


def shared_headers(abi, flavour):
    """The headers that flavours share: the generic ones have no flavour in the name, a cloud's carry it in front."""
    return f"linux-headers-{abi}" if flavour.startswith(("generic", "lowlatency")) else f"linux-{flavour}-headers-{abi}"


def ubuntu_kernel(abi, flavour, extra):
    release, version = f"{abi}-{flavour}", f"{abi.replace('-', '.', 1)}.1".replace(".0.", ".0-", 1)
    lines = [
        f"linux-image-{release} {version}: linux-modules-{release}",
        f"linux-modules-{release} {version}",
        f"linux-headers-{release} {version}: {shared_headers(abi, flavour)}",
        f"{shared_headers(abi, flavour)} {version}",
        f"linux-{flavour} {version}: linux-image-{release}",
    ]
    return lines + ([f"linux-modules-extra-{release} {version}: linux-modules-{release}"] if extra else [])


def ubuntu_archive(driver, end, release):
    """The server flavour of a branch; the prebuilt modules were built twice, the second time for a later driver."""
    branch, version, lines = driver.partition(".")[0], f"{driver}-{end}", []
    for open_ in ("", "-open"):
        flavour = f"{branch}-server{open_}"
        common = f"nvidia-kernel-common-{branch}-server"
        lines += [
            f"nvidia-dkms-{flavour} {version}: dkms, {common} (= {version})",
            f"nvidia-headless-no-dkms-{flavour} {version}: libnvidia-cfg1-{branch}-server (= {version}), libnvidia-compute-{branch}-server (= {version})",
            f"linux-modules-nvidia-{flavour}-{release} 6.8.0-90.1: linux-image-{release}, linux-objects-nvidia-{flavour}-{release}, "
            f"linux-signatures-nvidia-{release}, {common} (<= {version}), {common} (>= {version})",
            f"linux-modules-nvidia-{flavour}-{release} 6.8.0-90.1+9: linux-image-{release}, {common} (>= {driver}.99-{end})",
            f"linux-objects-nvidia-{flavour}-{release} 6.8.0-90.1",
            f"linux-modules-nvidia-{flavour}-generic 6.8.0-90.1+9: linux-modules-nvidia-{flavour}-{release}",
        ]
    names = (
        f"nvidia-utils-{branch}-server",
        f"libnvidia-compute-{branch}-server",
        f"libnvidia-cfg1-{branch}-server",
        f"nvidia-firmware-{branch}-server-{driver}",
    )
    lines += [f"{name} {version}" for name in names]
    lines.append(f"nvidia-kernel-common-{branch}-server {version}: nvidia-firmware-{branch}-server-{driver} (= {version})")
    return [*lines, f"nvidia-fabricmanager-{branch} {version}: nvidia-kernel-common-{branch}-server (>= {driver})"]


def nvidia_ubuntu(driver):
    branch, version = driver.partition(".")[0], f"{driver}-1ubuntu1"
    end = f"-{branch}" if int(branch) < 590 else ""
    lines = [f"nvidia-dkms{end}{open_} {version}: dkms, nvidia-kernel-common{end} (= {version})" for open_ in ("", "-open")]
    lines += [f"{name}{end} {version}" for name in ("nvidia-utils", "libnvidia-compute", "nvidia-fabricmanager")]
    lines.append(f"nvidia-kernel-common{end} {version}: nvidia-firmware{end} (= {version})")
    return [*lines, f"nvidia-firmware{end} {version}", f"nvidia-open{end} {version}", f"nvidia-driver-pinning-{branch} {branch}-1ubuntu1"]


def ubuntu(release, flavour="generic", vendor=DRIVER):
    end, abi, engine, extra = UBUNTU[release]
    archive = [*ubuntu_kernel(abi, flavour, extra), f"linux-signatures-nvidia-{abi}-{flavour} 6.8.0-90.1", "dkms 3.0.11-1ubuntu13"]
    for driver in (DRIVER, OTHER_DRIVER):
        archive += ubuntu_archive(driver, end, f"{abi}-{flavour}")
    return debs("Ubuntu", *archive) + debs("NVIDIA", *nvidia_ubuntu(vendor), *toolkit()) + docker_ce(engine)


def ubuntu_kernel_set(release, flavour="generic"):
    _, abi, _, extra = UBUNTU[release]
    names = {f"linux-image-{abi}-{flavour}", f"linux-modules-{abi}-{flavour}", f"linux-headers-{abi}-{flavour}", shared_headers(abi, flavour)}
    return names | ({f"linux-modules-extra-{abi}-{flavour}"} if extra else set())


SERVER = {"nvidia-utils-580-server", "libnvidia-compute-580-server", "nvidia-kernel-common-580-server", f"nvidia-firmware-580-server-{DRIVER}"}
ENDS = {"open": "-open", "proprietary": ""}


@pytest.mark.parametrize("modules", ENDS)
@pytest.mark.parametrize("release", UBUNTU)
def test_ubuntu_archive_dkms(release, modules):
    written = pins("ubuntu", f"{UBUNTU[release][1]}-generic", DRIVER, modules, "dkms")
    assert locked(written, ubuntu(release)) == ubuntu_kernel_set(release) | SERVER | {f"nvidia-dkms-580-server{ENDS[modules]}", "dkms"} | TOOLKIT | CE


def prebuilt(release, flavour, modules):
    end, kernel = f"580-server{ENDS[modules]}", f"{UBUNTU[release][1]}-{flavour}"
    return {f"linux-modules-nvidia-{end}-{kernel}", f"linux-objects-nvidia-{end}-{kernel}", f"linux-signatures-nvidia-{kernel}"} | {
        f"nvidia-headless-no-dkms-{end}",
        "libnvidia-cfg1-580-server",
    }


@pytest.mark.parametrize("modules", ENDS)
@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("release", UBUNTU)
def test_ubuntu_archive_prebuilt(release, flavour, modules):
    written = pins("ubuntu", f"{UBUNTU[release][1]}-{flavour}", DRIVER, modules, "prebuilt")
    assert locked(written, ubuntu(release, flavour)) == ubuntu_kernel_set(release, flavour) | SERVER | prebuilt(release, flavour, modules) | TOOLKIT | CE


@pytest.mark.parametrize("modules", ENDS)
@pytest.mark.parametrize(("driver", "end"), [(DRIVER, "-580"), (OTHER_DRIVER, "")])
@pytest.mark.parametrize("release", UBUNTU)
def test_nvidia_for_ubuntu(release, driver, end, modules):
    written = pins("ubuntu", f"{UBUNTU[release][1]}-generic", f"{driver}-1ubuntu1", modules, "dkms", fabric_manager={"version": f"{driver}-1ubuntu1"})
    names = {f"{name}{end}" for name in ("nvidia-utils", "libnvidia-compute", "nvidia-kernel-common", "nvidia-firmware", "nvidia-fabricmanager")}
    assert locked(written, ubuntu(release, vendor=driver)) == ubuntu_kernel_set(release) | names | {f"nvidia-dkms{end}{ENDS[modules]}", "dkms"} | TOOLKIT | CE


@pytest.mark.parametrize("release", UBUNTU)
def test_ubuntu_archive_fabric_manager_takes_the_server_flavour(release):
    version = f"{DRIVER}-{UBUNTU[release][0]}"
    written = pins("ubuntu", f"{UBUNTU[release][1]}-generic", version, "open", "dkms", fabric_manager={"version": version})
    assert locked(written, ubuntu(release)) >= SERVER | {"nvidia-fabricmanager-580", "nvidia-dkms-580-server-open"}
    assert {one.origin for one in resolve(written, ubuntu(release))[1] if one.name == "nvidia-fabricmanager-580"} == {"Ubuntu"}


# --- Debian
DEBIAN = {"12": ("6.1.0-48", "535.261.03-1", "debian.12~bookworm"), "13": ("6.12.117+deb13", "550.163.01-2", "debian.13~trixie")}
DEBIAN_ENGINES = {
    "12": ("20.10.24+dfsg1-1", "1.6.20~ds1-1", "1.1.5+ds1-1", "4.3.1+ds1-8"),
    "13": ("26.1.5+dfsg1-9", "1.7.24~ds1-6", "1.1.15+ds1-2", "5.4.2+ds1-2"),
}


def debian(release):
    abi, archive, engine = DEBIAN[release]
    docker, containerd, runc, podman = DEBIAN_ENGINES[release]
    vendor = f"{DRIVER}-1"
    os = [
        f"linux-image-{abi}-amd64 {abi}-1",
        f"linux-headers-{abi}-amd64 {abi}-1: linux-headers-{abi}-common, linux-kbuild-{abi}",
        f"linux-headers-{abi}-common {abi}-1",
        f"linux-kbuild-{abi} {abi}-1",
        f"linux-image-amd64 {abi}-1: linux-image-{abi}-amd64",
        f"nvidia-kernel-dkms {archive}: dkms, firmware-nvidia-gsp (= {archive})",
        f"nvidia-open-kernel-dkms {archive}: dkms, firmware-nvidia-gsp (= {archive})",
        *(f"{name} {archive}" for name in ("libcuda1", "libnvidia-ml1", "nvidia-smi", "firmware-nvidia-gsp")),
        *("nvidia-persistenced 535.171.04-1", "nvidia-modprobe 535.161.07-1", "dkms 3.0.10-8"),
        *(f"docker.io {docker}: containerd (>= 1.4), runc", f"containerd {containerd}: runc", f"runc {runc}", f"podman {podman}: crun | runc"),
    ]
    nvidia = [f"{name} {vendor}: dkms, firmware-nvidia-gsp (= {vendor})" for name in ("nvidia-kernel-dkms", "nvidia-kernel-open-dkms")]
    nvidia += [f"{name} {vendor}" for name in ("libcuda1", "libnvidia-ml1", "nvidia-smi", "firmware-nvidia-gsp", "nvidia-persistenced", "nvidia-modprobe")]
    nvidia += [f"nvidia-driver-cuda {vendor}: libcuda1 (= {vendor})", f"nvidia-fabricmanager {vendor}", "nvidia-driver-pinning-580 580-1"]
    return debs("Debian", *os) + debs("NVIDIA", *nvidia, *toolkit()) + docker_ce(engine)


def debian_kernel_set(release):
    abi = DEBIAN[release][0]
    return {f"linux-image-{abi}-amd64", f"linux-headers-{abi}-amd64", f"linux-headers-{abi}-common", f"linux-kbuild-{abi}"}


DEBIAN_SET = {"libcuda1", "libnvidia-ml1", "nvidia-smi", "firmware-nvidia-gsp", "nvidia-persistenced", "nvidia-modprobe", "dkms"}


@pytest.mark.parametrize(("modules", "module"), [("open", "nvidia-open-kernel-dkms"), ("proprietary", "nvidia-kernel-dkms")])
@pytest.mark.parametrize("release", DEBIAN)
def test_debian_archive(release, modules, module):
    abi, version, _ = DEBIAN[release]
    assert (
        locked(pins("debian", f"{abi}-amd64", version, modules, "dkms"), debian(release)) == debian_kernel_set(release) | DEBIAN_SET | {module} | TOOLKIT | CE
    )


@pytest.mark.parametrize(("modules", "module"), [("open", "nvidia-kernel-open-dkms"), ("proprietary", "nvidia-kernel-dkms")])
@pytest.mark.parametrize("release", DEBIAN)
def test_nvidia_for_debian(release, modules, module):
    written = pins("debian", f"{DEBIAN[release][0]}-amd64", DRIVER, modules, "dkms", fabric_manager={"version": DRIVER})
    driver = DEBIAN_SET | {module, "nvidia-driver-cuda", "nvidia-fabricmanager"}
    assert locked(written, debian(release)) == debian_kernel_set(release) | driver | TOOLKIT | CE


@pytest.mark.parametrize("engine", ["docker", "containerd", "podman"])
@pytest.mark.parametrize("release", DEBIAN)
def test_engines_of_debian(release, engine):
    docker, containerd, runc, podman = (version.partition("+")[0].partition("~")[0] for version in DEBIAN_ENGINES[release])
    pinned = {
        "docker": ({"version": docker, "containerd": containerd, "runc": runc}, {"docker.io", "containerd", "runc"}),
        "containerd": ({"version": containerd, "runc": runc}, {"containerd", "runc"}),
        "podman": ({"version": podman}, {"podman", "runc"}),
    }
    written = pins("debian", f"{DEBIAN[release][0]}-amd64", DRIVER, "open", "dkms", container_engine=engine, **{engine: pinned[engine][0]})
    assert {one.name for one in resolve(written, debian(release))[1] if one.layer == "engine"} == pinned[engine][1]


# --- RHEL and its rebuilds
RHEL = {"9": ("5.14.0-570.12.1", "el9_6", "el9"), "10": ("6.12.0-55.9.1", "el10_0", "el10")}


def red_hat(release):
    abi, kernel_end, end = RHEL[release]
    kernel, driver = f"{abi}.{kernel_end}", f"3:{DRIVER}-1.{end}"
    os = [f"{name} {kernel}" for name in ("kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-devel", "kernel-headers")]
    os += [f"kernel-modules-extra {kernel}", f"podman 5:5.8.8-1.{end}", f"crun 1.27-1.{end}"]
    nvidia = [f"{name} {driver}: nvidia-kmod-common = {driver}" for name in ("kmod-nvidia-open-dkms", "kmod-nvidia-latest-dkms")]
    nvidia += [f"kmod-nvidia-{open_}{DRIVER}-{abi} 3:{DRIVER}-3.{kernel_end}: nvidia-kmod-common = {driver}" for open_ in ("", "open-")]
    nvidia += [f"nvidia-driver-cuda {driver}: nvidia-driver-cuda-libs = {driver}, nvidia-persistenced = {driver}"]
    nvidia += [
        f"{name} {driver}"
        for name in ("nvidia-kmod-common", "nvidia-driver-cuda-libs", "nvidia-persistenced", "nvidia-modprobe", "nvidia-open", "cuda-drivers")
    ]
    docker = [f"docker-ce 3:29.9.0-1.{end}: containerd.io >= 2.1.5, docker-ce-cli", f"docker-ce-cli 1:29.9.0-1.{end}", f"containerd.io 2.4.1-1.{end}"]
    return rpms("Rocky", *os) + rpms("NVIDIA", *nvidia, f"nvidia-fabricmanager {DRIVER}-1", *toolkit()) + rpms("Docker", *docker)


RHEL_SET = {"kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-modules-extra", "kernel-devel"} | {
    *("nvidia-driver-cuda", "nvidia-driver-cuda-libs", "nvidia-kmod-common", "nvidia-persistenced", "nvidia-modprobe", "nvidia-fabricmanager")
}
MODULES = {
    ("open", "dkms"): "kmod-nvidia-open-dkms",
    ("proprietary", "dkms"): "kmod-nvidia-latest-dkms",
    ("open", "prebuilt"): "kmod-nvidia-open-{driver}-{abi}",
    ("proprietary", "prebuilt"): "kmod-nvidia-{driver}-{abi}",
}


@pytest.mark.parametrize(("modules", "build"), MODULES)
@pytest.mark.parametrize("distribution", ["rhel", "rocky", "almalinux"])
@pytest.mark.parametrize("release", RHEL)
def test_nvidia_for_red_hat(release, distribution, modules, build):
    abi, end, _ = RHEL[release]
    written = pins(distribution, f"{abi}.{end}.x86_64", DRIVER, modules, build, fabric_manager={"version": DRIVER})
    assert locked(written, red_hat(release)) == RHEL_SET | {MODULES[modules, build].format(driver=DRIVER, abi=abi)} | TOOLKIT | CE


@pytest.mark.parametrize("release", RHEL)
def test_podman_of_red_hat(release):
    abi, end, _ = RHEL[release]
    written = pins("rocky", f"{abi}.{end}.x86_64", DRIVER, "open", "dkms", container_engine="podman", podman={"version": "5.8.8"})
    assert {one.name for one in resolve(written, red_hat(release))[1] if one.layer == "engine"} == {"podman", "crun"}


# --- refusals, and what must not matter
NOBLE = "6.8.0-90-generic"


@pytest.mark.parametrize(
    ("version", "depends"),
    [
        ("580.159.03-0ubuntu0.24.04.1", ""),
        ("550.163.01-0ubuntu9", ": nvidia-dkms-580-server-open"),
        ("550.163.01-0ubuntu9", ": nvidia-dkms-580-server-open, dkms"),
    ],
)
def test_a_transitional_package_is_never_taken_and_named(version, depends):
    dummy = debs("Ubuntu", f"nvidia-dkms-550-server-open {version}{depends}")
    written = pins("ubuntu", NOBLE, "550.163.01", "open", "dkms")
    with pytest.raises(
        LockError, match=r"nvidia-dkms-550-server-open none \(only nvidia-dkms-550-server-open .*, a transitional package that brings branch 580\)"
    ):
        resolve(written, [*(one for one in ubuntu("24.04") if one.origin != "NVIDIA" or "container" in one.name), *dummy])


def test_a_dependency_is_never_met_by_a_transitional_package():
    others = debs("Ubuntu", "zfs-dkms 2.3.1-1: nvidia-utils-550-server", f"nvidia-utils-550-server {DRIVER}-0ubuntu0.24.04.1: nvidia-utils-580-server")
    written = pins("ubuntu", NOBLE, DRIVER, "open", "dkms", extra_modules=[{"name": "zfs-dkms", "version": "2.3.1"}])
    with pytest.raises(LockError, match=r"zfs-dkms 2.3.1-1 needs nvidia-utils-550-server, which the pool's repositories do not have"):
        resolve(written, [*ubuntu("24.04"), *others])


def test_a_range_over_branches_takes_no_transitional_package():
    dummy = debs("Ubuntu", f"nvidia-dkms-550-server-open {DRIVER}-0ubuntu0.24.04.1: nvidia-dkms-580-server-open")
    written = pins("ubuntu", NOBLE, "580.*", "open", "dkms")
    assert locked(written, [*ubuntu("24.04"), *dummy]) == locked(written, ubuntu("24.04"))


def test_a_fabric_manager_of_two_origins_is_refused_with_the_choice():
    written = pins("ubuntu", NOBLE, DRIVER, "open", "dkms", fabric_manager={"version": DRIVER})
    with pytest.raises(
        LockError, match=r"both nvidia-fabricmanager-580 .* of origin NVIDIA and nvidia-fabricmanager-580 .* of origin Ubuntu are what is pinned"
    ):
        resolve(written, ubuntu("24.04"))


@pytest.mark.parametrize("missing", ["nvidia-utils-580-server", "nvidia-kernel-common-580-server", "linux-modules-nvidia-580-server-open-6.8.0-90-generic"])
def test_a_missing_sibling_is_refused_by_name(missing):
    with pytest.raises(LockError, match=f"have {missing} none"):
        resolve(pins("ubuntu", NOBLE, DRIVER, "open", "prebuilt"), [one for one in ubuntu("24.04") if one.name != missing])


EXACT = pins("ubuntu", NOBLE, f"{DRIVER}-0ubuntu0.24.04.1", "open", "prebuilt")
BASE = ubuntu("24.04")
STRANGERS = st.builds(
    lambda name, version, origin: debs(origin, f"{name} {version}"),
    st.sampled_from(sorted({one.name for one in resolve(EXACT, BASE)[1] if not one.name.startswith("linux-")})),
    st.sampled_from(["570.211.01-1", "580.999.01-0ubuntu9", "595.71.05-1ubuntu1", "5:99.1-1"]),
    st.sampled_from(["Ubuntu", "NVIDIA", "Elsewhere"]),
) | st.builds(
    lambda branch, origin: debs(origin, *ubuntu_archive(f"{branch}.1.1", "0ubuntu1", NOBLE), f"nvidia-driver-pinning-{branch} {branch}-1"),
    st.sampled_from([550, 570, 595]),
    st.sampled_from(["Ubuntu", "Elsewhere"]),
)


@settings(max_examples=60, deadline=None)
@given(extra=st.lists(STRANGERS, max_size=4))
def test_what_else_the_repositories_have_does_not_change_an_exact_lock(extra):
    assert resolve(EXACT, [*BASE, *(one for group in extra for one in group)]) == resolve(EXACT, BASE)
