"""Pin sets drawn from what people pin: every combination has the form, few of them make sense."""

from hypothesis import strategies as st

from tests.unit.plugins.plugin_utils.pins.sets import BASE, DIGEST


def words(text, separator=" "):
    """A list, written as a person would."""
    return text.split(separator)


DRIVERS = words(
    "450.80.02 470.256.02 510.108.03 515.105.01 525.60.13 530.41.03 535.154.05 535.261.03 535.309.01 545.29.06 550.54.14 550.163.01-2 560.35.03"
    " 565.77 570.86.15 570.133.20 575.57.08 580 580.* 580.65.06 580.95.05 580.142 580.159.03 580.178.04 585.1.1 590.48.01 595.58.03 595.112.07"
    " 610.57.04 615.71.09 620.70.06 999.1"
)
MODELS = words(
    "L40S|T4|A10G|A30|A100|A100-SXM4-80GB|A100-PCIE-40GB|NVIDIA H100 80GB HBM3|H100 NVL|H100|H200|GH200 480GB|B200|B300|GB200|GB300|GB10|VR200"
    "|Tesla V100|P100|M60|K80|RTX 5090|GeForce RTX 3090|RTX PRO 6000 Blackwell Server Edition|Hopper|Volta|10de:2330|10de:1eb8|10de:ffff|Radeon",
    "|",
)
KERNELS = words(
    "4.14.355-280.amzn2.x86_64 4.18.0-553.el8_10.x86_64 5.10.0-35-amd64 5.14.0-611.5.1.el9_7.x86_64 5.15.0-181-generic 6.1.0-57-amd64"
    " 6.12.57+deb12-amd64 6.12.117+deb13-amd64 6.12.117+deb13-arm64 6.12.58-82.121.amzn2023.x86_64 6.12.0-124.8.1.el10_1.x86_64"
    " 6.4.0-150700.53.22-default 6.8.0-101-generic 6.8.0-*-generic 6.8.0-1040-nvidia-64k 6.17.0-1009-aws 6.18.1+deb13-amd64 6.19.0-061900-generic"
    " 7.0.0-22-generic 7.1.3+deb13-amd64 6.12 7.2-custom 6.8.10"
)
SYSTEMS = (
    ("debian", "11"),
    ("debian", "12"),
    ("debian", "13"),
    ("debian", "99"),
    ("ubuntu", "20.04"),
    ("ubuntu", "22.04"),
    ("ubuntu", "24.04"),
    ("ubuntu", "26.04"),
    ("ubuntu", "25.10"),
    ("rhel", "8.10"),
    ("rocky", "9"),
    ("almalinux", "10.1"),
    ("sles", "15.7"),
    ("sles", "16.0"),
    ("amazon", "2"),
    ("amazon", "2023"),
)
TOOLKITS = words("1.7.0 1.11.0 1.14.0 1.14.5 1.17.0 1.17.3 1.17.4 1.17.7 1.18.0 1.19.0 1.19.1-1 1.20.0 1.20 1.21.0 1.*")
DOCKERS = words(
    "18.09.9 19.03.15 20.10.24 20.10.24+dfsg1-1+b1 24.0.9 25.0.17 26.1.5 27.5.1 28.5.2 29 29.0.0 29.2.1 29.5.1 5:29.9.0-1~debian.13~trixie 29.9.0 30.0.0"
)
CONTAINERDS = words("1.3.0 1.6.20~ds1-1+b1 1.6.39 1.7.13 1.7.36 2.0.13 2.1.9 2.2.9 2.3.2 2.4.1 2.4 3.0.0")
RUNCS = ["0.9.0", "1.1.5", "1.2.8", "1.3.6", "1.4.1", "1.5.1", "2.0.0"]
PODMANS = ["3.4.4", "4.3.1", "4.9.3", "5.4.2", "5.8.8", "6.0.1", "6.1.3"]
PROFILES = words("all-1g.5gb 1g.10gb all-1g.10gb.me 2g.12gb all-3g.40gb 7g.141gb all-8g.80gb all-balanced all-disabled custom")
CUDAS = words("9.0 10.2 11.4 11.8 12.1 12.4 12.7 12.8 13.0 13.2 13.5 13.9 14.0")
FRAMEWORKS = ["torch 1.6", "torch 2.1", "PyTorch 2.8.0", "torch==2.9.1+cu128", "vllm 0.6", "tensorrt 10.7", "jax", "tensorflow 2.15"]
REFERENCES = ["nvidia/cuda:12.4.1-base", "registry.example/goldnode/cuda-canary", "nvcr.io/nvidia/pytorch:25.01-py3", "pytorch/pytorch:2.8.0-cuda12.8-cudnn9"]


def images(**more):
    return st.fixed_dictionaries(
        {"reference": st.sampled_from(REFERENCES).map(lambda name: name + DIGEST), "cuda": st.sampled_from(CUDAS)},
        optional=more,
    )


def versioned(choices):
    return st.fixed_dictionaries({"version": st.sampled_from(choices)})


ENGINES = st.one_of(
    st.fixed_dictionaries(
        {
            "container_engine": st.just("docker"),
            "docker": st.fixed_dictionaries({"version": st.sampled_from(DOCKERS), "containerd": st.sampled_from(CONTAINERDS), "runc": st.sampled_from(RUNCS)}),
        }
    ),
    st.fixed_dictionaries(
        {
            "container_engine": st.just("containerd"),
            "containerd": st.fixed_dictionaries({"version": st.sampled_from(CONTAINERDS), "runc": st.sampled_from(RUNCS)}),
        }
    ),
    st.fixed_dictionaries({"container_engine": st.just("podman"), "podman": versioned(PODMANS)}),
)
REST = st.fixed_dictionaries(
    {
        "os": st.tuples(st.sampled_from(SYSTEMS), st.sampled_from(["x86_64", "aarch64"]), st.sampled_from([1, 2])).map(
            lambda one: {"distribution": one[0][0], "release": one[0][1], "arch": one[1], "cgroup": one[2]}
        ),
        "gpus": st.lists(st.fixed_dictionaries({"model": st.sampled_from(MODELS), "count": st.sampled_from([0, 1, 4, 6, 8, 20])}), max_size=2),
        "kernel": versioned(KERNELS),
        "nvidia_driver": st.fixed_dictionaries(
            {"version": st.sampled_from(DRIVERS), "modules": st.sampled_from(["open", "proprietary"]), "build": st.sampled_from(["dkms", "prebuilt"])}
        ),
        "container_toolkit": st.none() | versioned(TOOLKITS),
        "canary_image": images(),
    },
    optional={
        "fabric_manager": versioned(DRIVERS),
        "nvlsm": versioned(["2025.10.8"]),
        "imex": versioned(DRIVERS),
        "mig": st.fixed_dictionaries({"profile": st.sampled_from(PROFILES)}),
        "workload_images": st.lists(images(framework=st.sampled_from(FRAMEWORKS)), max_size=2),
    },
)
PIN_SETS = st.tuples(REST, ENGINES).map(lambda parts: {**parts[0], **parts[1]})
# A right set with one or two parts of another: most findings stand alone, as in a person's file.
NEAR_MISSES = st.tuples(
    PIN_SETS, st.sets(st.sampled_from(sorted({*BASE, "mig", "fabric_manager", "workload_images"} - {"docker", "container_engine"})), max_size=2)
).map(lambda parts: {**BASE, **{key: parts[0][key] for key in parts[1] if key in parts[0]}})
