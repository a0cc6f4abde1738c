"""Bundles fit for a bug report: no identifier is left, each has one neutral value, and the verdict is the same."""

import json
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.anonymise import Anonymiser
from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parents[3]
BUNDLES = sorted([*(TESTS / "cases").glob("*.evidence.yml"), *(TESTS / "fixtures/evidence").glob("*.evidence.*")])
SITE = {
    "schema": "goldnode.evidence/v1",
    "node": "gpu7.rack3.acme.com",
    "pool": "acme_train",
    "boot_id": "d9e7e59c-0180-4e40-ab87-2e53dcd1757b",
    "nonce": "ab" * 32,
    "probes": {
        "dmesg": {"content": "[    1.0] systemd[1]: Hostname set to <gpu7>.\nmlx5: MAC 9c:63:c0:12:34:56\nNVRM: Xid (PCI:0000:17:00): 79, pid=12\n"},
        "nvidia_smi_list": {"stdout": "GPU 0: NVIDIA A10 (UUID: GPU-72721806-c170-5251-9ee7-9901f0e63ac7)\n"},
        "nvidia_smi_q": "    Serial Number                         : 1322621037123\n",
        "docker_info": '{"HttpProxy":"http://\u00abredacted\u00bb@proxy.acme.com:3128","Name":"gpu7","Labels":[],"Server":"10.1.2.3"}',
        "proc_driver_nvidia_gpus": {"/proc/driver/nvidia/gpus/0000:17:00.0/information": "GPU UUID: GPU-72721806-c170-5251-9ee7-9901f0e63ac7\n"},
        "cdi_specs": {"/home/alice/x.yaml": "hostPath: /home/alice/lib"},
        "pod_events": "Successfully assigned ml/train to gpu8\ncontainer 0123456789ab in /docker/0123456789ab" + "c" * 52,
        "app_log": "alice@acme.com\nalice@gpu7:~$ ping fe80::9e63:c0ff",
    },
    "runs": [{"command": "docker run registry.acme.com:5000/x@sha256:" + "d" * 64 + " --nonce " + "ab" * 32, "stderr": "from 10.1.2.3"}],
}
TELLING = ("gpu7", "gpu8", "rack3", "acme", "alice", "d9e7e59c", "72721806", "9c:63", "1322621037123", "10.1.2.3", "0123456789ab", "9e63")


def anonymised(*bundles, hosts=()):
    neutral = Anonymiser(bundles, hosts)
    return [neutral.bundle(bundle) for bundle in bundles]


def test_no_identifier_is_left_and_each_has_one_neutral_value():
    (bundle,) = anonymised(SITE)
    text = json.dumps(bundle, ensure_ascii=False)
    assert [word for word in TELLING if word in text] == []
    assert (bundle["node"], bundle["pool"]) == ("node-1", "pool-1")
    assert "Hostname set to <node-1>" in bundle["probes"]["dmesg"]["content"]
    assert '"Name":"node-1"' in bundle["probes"]["docker_info"]
    uuid = "GPU-00000002-0000-4000-8000-000000000000"
    assert uuid in bundle["probes"]["nvidia_smi_list"]["stdout"]
    assert uuid in bundle["probes"]["proc_driver_nvidia_gpus"]["/proc/driver/nvidia/gpus/0000:17:00.0/information"]
    assert bundle["probes"]["cdi_specs"] == {"/home/user1/x.yaml": "hostPath: /home/user1/lib"}
    assert "container 000000000001 in /docker/000000000001" in bundle["probes"]["pod_events"]
    assert "assigned ml/train to node-2" in bundle["probes"]["pod_events"]
    assert "user1@node-1:~$ ping 2001:db8::1" in bundle["probes"]["app_log"]
    assert bundle["runs"][0]["stderr"] == "from 198.18.0.1"


def test_what_a_diagnosis_needs_stays():
    (bundle,) = anonymised(SITE)
    assert (bundle["nonce"], bundle["schema"]) == (SITE["nonce"], SITE["schema"])
    assert "NVRM: Xid (PCI:0000:17:00): 79, pid=12" in bundle["probes"]["dmesg"]["content"]
    assert bundle["runs"][0]["command"].endswith("/x@sha256:" + "d" * 64 + " --nonce " + "ab" * 32)


def test_a_value_has_the_same_neutral_value_in_all_bundles_of_a_run():
    other = {"schema": SITE["schema"], "node": "gpu8", "probes": {"dmesg": "10.1.2.3 said gpu7 GPU-72721806-c170-5251-9ee7-9901f0e63ac7"}}
    _first, second = anonymised(SITE, other)
    assert second["node"] == "node-2"
    assert second["probes"]["dmesg"] == "198.18.0.1 said node-1 GPU-00000002-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    "text",
    [
        "cuDNN version 8.9.7.29, v1.2.3.4, driver 96.0.5.1",
        "linux-image-5.15.0.91-generic 5.15.0.91.88 libcudnn8=8.9.7.29-1",
        "127.0.0.1 0.0.0.0 255.255.255.0 ::1 [::]:80 12:34:56 0000:17:00.0 195:0 std::vector",
        "nvidia.com/gpu=all nvcr.io/nvidia/cuda:12.4.1 docker.io/library/x https://download.docker.com/linux registry.k8s.io/pause",
        "/etc/rc.local libcuda.so.550.163.01 com.docker.network io.containerd.runc.v2 nvidia.ko",
        "user@0.service Serial: 8250/16550 driver, 4 ports sha256:" + "e" * 64,
        "/root/x /home",
    ],
)
def test_what_identifies_nobody_stays(text):
    assert anonymised({"probes": {"app_log": text}})[0]["probes"]["app_log"] == text


def test_a_host_called_by_a_word_of_the_field_costs_the_evidence_nothing():
    (bundle,) = anonymised({"node": "nvidia", "probes": {"app_log": "nvidia-smi: nvidia driver"}})
    assert (bundle["node"], bundle["probes"]["app_log"]) == ("node-1", "nvidia-smi: nvidia driver")


@pytest.mark.parametrize(
    "text",
    [
        *("GPU07", "Gpu07-ib0", "gpu07_log", "gpu07.acme.tech"),
        *("USER=jdoe", "uid=1000(jdoe) gid=1000(jdoe)", "/data/users/jdoe/x", "/srv/home2/jdoe"),
        "SN: 1321020012345",
        "MAC=aa:bb:cc:dd:ee:ff:11:22:33:44:55:66:08:00",
    ],
)
def test_an_identifier_is_replaced_in_every_form(text):
    (bundle,) = anonymised({"node": "gpu07", "probes": {"app_log": text}})
    left = bundle["probes"]["app_log"].lower()
    assert [word for word in ("gpu07", "jdoe", "acme", "1321020012345", "aa:bb") if word in left] == []


def said(judgement):
    """All that a judgement says but the words that may hold an identifier."""
    return judgement.verdict, judgement.first_broken_layer, judgement.rung, judgement.layers, [(found.rule, found.verdict) for found in judgement.findings]


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.name[:12])
def test_the_judgement_is_that_of_the_original(path):
    evidence = yaml.load(path.read_text(), yaml.CSafeLoader)
    assert said(judge(anonymised(evidence)[0])) == said(judge(evidence))


NAME = st.from_regex(r"[a-z]{3,8}[0-9]{1,3}", fullmatch=True)
AROUND = st.sampled_from([("", ""), (" ", " "), ('"', '"'), ("<", ">"), ("/", ":"), ("(", ")"), ("host=", ","), ("https://", ".acme.com/x"), ("u@", ":~#")])


@settings(deadline=None)
@given(names=st.lists(NAME, min_size=1, max_size=4, unique=True), around=AROUND)
def test_the_inventorys_hosts_are_nowhere_left(names, around):
    bundles = [{"node": name, "probes": {"dmesg": "\n".join(around[0] + other + around[1] for other in names)}} for name in names]
    text = json.dumps(anonymised(*bundles, hosts=names))
    assert [name for name in names if f'"{name}"' in text or around[0] + name + around[1] in text] == []


@settings(deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_is_taken(text):
    assert isinstance(anonymised({"probes": {"dmesg": text, "odd": [1, None, {text: text}]}})[0]["probes"]["dmesg"], str)
