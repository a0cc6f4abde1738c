"""The probe as a process: what it prints, under which Pythons, within which limits, and what it never lets out."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tomllib
from ansible_collections.goldnode.gpu.plugins.module_utils import probe
from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import WRITTEN
from ansible_collections.goldnode.gpu.plugins.plugin_utils.payload import payload
from hypothesis import given
from hypothesis import strategies as st

PYTHONS = sorted({sys.executable, *map(str, Path.home().glob(".pyenv/versions/3.[0-9]*/bin/python"))})


def probed(*arguments, python=sys.executable, source=None, env=None):
    """The bundle that a piped probe prints."""
    done = subprocess.run([python, "-", *arguments], input=source or payload(), capture_output=True, text=True, env=env, check=True, timeout=120)
    return json.loads(done.stdout)


def tool(folder, name, script):
    """A program of that name, first on the path."""
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("python", PYTHONS)
def test_a_piped_probe_prints_a_bundle_under_every_python_that_is_here(python):
    bundle = probed("--layers", "kernel", "--nonce", "5eed", python=python)
    assert (bundle["schema"], bundle["nonce"]) == ("goldnode.evidence/v1", "5eed")
    assert bundle["probes"]["uname_m"]["rc"] == 0


def test_the_whole_payload_is_at_most_60_kilobytes():
    assert len(payload().encode()) <= 60_000


def test_the_payload_carries_the_cuda_probe():
    answer = probed("--layers", "cuda", "--nonce", "5eed")["probes"]["cuda_probe"]
    assert json.loads(answer["stdout"])["schema"] == "goldnode.cuda_probe/v1"


def test_alone_without_an_installed_cuda_probe_it_says_so():
    source = Path(probe.__file__).read_text().replace("/usr/lib/goldnode/cuda_probe.py", "/nonexistent/cuda_probe.py")
    assert "no CUDA probe" in probed("--layers", "cuda", source=source)["probes"]["cuda_probe"]["error"]


def test_kernel_facts_come_from_the_roots_that_it_is_given(tmp_path):
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text("6.12.107+deb13-amd64\n")
    device = tmp_path / "sys/bus/pci/devices/0000:17:00.0"
    device.mkdir(parents=True)
    for name, value in (("class", "0x030200"), ("vendor", "0x10de"), ("device", "0x2236")):
        (device / name).write_text(value + "\n")
    (device / "driver").symlink_to("../../drivers/nvidia")
    (tmp_path / "log").write_text("[    0.000000] Linux version 6.12.107\n")
    bundle = probed("--layers", "hardware", "--procfs", f"{tmp_path}/proc", "--sysfs", f"{tmp_path}/sys", "--kernel-log", f"{tmp_path}/log")
    assert bundle["roots"] == {"procfs": f"{tmp_path}/proc", "sysfs": f"{tmp_path}/sys", "kernel_log": f"{tmp_path}/log"}
    assert bundle["probes"]["kernel_release"]["content"] == "6.12.107+deb13-amd64\n"
    assert bundle["probes"]["lspci_nnk"]["content"] == "0000:17:00.0 [0302]: [10de:2236]\n\tKernel driver in use: nvidia\n"
    assert bundle["probes"]["dmesg"]["complete"] is True


def test_a_kernel_log_that_does_not_begin_at_boot_is_not_complete(tmp_path):
    (tmp_path / "log").write_text("[ 9999.000000] nvidia: something\n")
    assert probed("--layers", "hardware", "--kernel-log", f"{tmp_path}/log")["probes"]["dmesg"]["complete"] is False


def test_a_hung_tool_is_killed_with_its_children_and_the_rest_goes_on(tmp_path):
    marker = tmp_path / "alive"
    env = tool(tmp_path, "nvidia-ctk", f"(sleep 4; touch {marker}) & wait\n")
    source = payload().replace("\nLIMIT_S = 15.0\n", "\nLIMIT_S = 0.5\n")
    bundle = probed("--layers", "container_toolkit", source=source, env=env)
    assert "killed after 0.5 s" in bundle["probes"]["nvidia_ctk_version"]["error"]
    assert "toolkit_config" in bundle["probes"]
    time.sleep(4.2)
    assert not marker.exists()


def test_a_tool_that_prints_without_end_is_cut_and_marked(tmp_path):
    env = tool(tmp_path, "nvidia-ctk", "exec yes\n")
    form = probed("--layers", "container_toolkit", env=env)["probes"]["nvidia_ctk_version"]
    assert (form["truncated"], form["complete"]) == (True, False)
    assert len(form["stdout"]) <= probe.LIMIT_BYTES


def test_a_missing_tool_is_absent_and_a_file_that_cannot_be_read_is_an_error():
    node = probe.Node(probe.options_of([]), None)
    assert probe.look(probe.command("no-such-tool-here"), node) == {"absent": True}
    assert probe.look(probe.file("/no/such/file"), node) == {"absent": True}
    assert "IsADirectoryError" in probe.look(probe.file("/"), node)["error"]


RUN = {"path": "cdi", "engine": "docker", "request": "cdi", "name": "goldnode-slot-cdi", "nonce": "5eed", "user": "root", "payload": "cuda_probe"}


def test_a_declared_run_comes_back_with_what_it_printed(tmp_path):
    env = tool(tmp_path, "engine", 'echo "ran $*"; echo oops >&2; exit 3\n')
    runs = json.dumps([{**RUN, "argv": ["engine", "run", "x"], "limit_s": 5}])
    (run,) = probed("--layers", "policy", "--runs", runs, env=env)["runs"]
    assert {key: run[key] for key in RUN} == RUN
    assert (run["command"], run["stdout"], run["stderr"], run["rc"]) == ("engine run x", "ran run x\n", "oops\n", 3)
    assert not {"argv", "limit_s"} & set(run)


def test_a_run_over_its_limit_loses_its_container(tmp_path):
    log = tmp_path / "log"
    env = tool(tmp_path, "engine", f'echo "$*" >> {log}; [ "$1" != run ] || exec sleep 30\n')
    runs = json.dumps([{**RUN, "argv": ["engine", "run", "x"], "limit_s": 0.5}])
    (run,) = probed("--layers", "policy", "--runs", runs, env=env)["runs"]
    assert "killed after 0.5 s" in run["error"]
    assert "rc" not in run
    assert log.read_text().splitlines()[-1] == "rm -f goldnode-slot-cdi"


def test_left_overs_of_a_killed_turn_go_before_the_first_run(tmp_path):
    log = tmp_path / "log"
    env = tool(tmp_path, "engine", f'echo "$*" >> {log}; [ "$1" != ps ] || echo "c0ffee beef"\n')
    runs = json.dumps([{**RUN, "argv": ["engine", "run", "x"], "limit_s": 5}])
    probed("--layers", "policy", "--runs", runs, env=env)
    assert log.read_text().splitlines() == ["ps -aq --filter label=goldnode.canary", "rm -f c0ffee beef", "run x"]


def test_each_layer_collects_what_its_rules_read_or_people_write_it():
    collected = {layer: {name for name, readers, _how in probe.PROBES if layer in readers.split()} for layer in LAYERS}
    known = {name for name, _readers, _how in probe.PROBES}
    missing = {rule.id: {name for name in rule.probes if name not in (collected[rule.layer] if name in known else WRITTEN.split())} for rule in RULES.values()}
    assert {name: probes for name, probes in missing.items() if probes} == {}


def test_no_rule_needs_the_uptime_which_a_lab_node_lacks():
    assert [rule.id for rule in RULES.values() if "uptime" in rule.probes] == []


WORD = st.text(alphabet="abcXYZ019_-", min_size=12, max_size=20)
FORMS = [
    "https://user:{}@registry.example/v2",
    "http_proxy=http://u:S3cr3t/{}@proxy:3128",
    "http://{}@host",
    r'{{"proxy":"http:\/\/u:{}@h"}}',
    "http://u:a@{}@h",
    "http://u:{}'@h",
    "proxy user:{}@host:3128 refused",
    "proxy user:a/{}@10.0.0.1:3128 refused",
    '{{"auths": {{"registry.example": {{"auth": "{}"}}}}}}',
    '"password": "{}"',
    '"password": "a b {}"',
    '"password": "cut at the limit {}',
    r'"{{\"password\": \"{}\"}}"',
    r'"{{\"password\": \"a\\\"{}\"}}"',
    'password: "a {}"',
    "password: a {}",
    'x --password "a {}" y',
    "run password='a {}' y",
    "pwd={}",
    "run pwd={};",
    "run PASSWORD=a,{}",
    "run PASSWORD=a;{}",
    "DB_PASSWORD={}",
    "export DB_PASSWORD=a {}",
    '["DB_PASSWORD={}"]',
    "NGC_API_KEY={} next",
    "X-Api-Key: {}",
    "curl -H 'X-Api-Key: {}' https://x",
    "X-Secret-Key: {}",
    "api-key: x\nAuthorization: Bearer {}",
    "curl -H 'Authorization: token {}'",
    "curl --token {} https://x",
    "_auth={}",
    "aws_secret_access_key = {}",
    "- name: DB_PASSWORD\n  value: {}",
    '- name: "API_KEY"\n  value: "{}"',
    '{{"name":"HF_TOKEN","value":"{}"}}',
    "client-key-data: {}",
    '".dockerconfigjson": "{}"',
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
]


@pytest.mark.parametrize("form", FORMS)
@given(secret=WORD)
def test_a_secret_never_leaves_the_node(form, secret):
    cut = probe.redact({"stdout": form.format(secret), "list": [form.format(secret)]})
    assert secret not in json.dumps(cut)
    assert probe.REDACTED in cut["stdout"]


@pytest.mark.parametrize(
    "token",
    [
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 9,
        "glpat-" + "a1B2" * 5,
        "dckr_pat_" + "a1-B" * 6,
        "hf_" + "aBcD" * 8,
        "nvapi-" + "a1-B" * 12,
        "xoxb-1234-" + "a1B2" * 5,
        "AKIA" + "A1B2" * 4,
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    ],
)
def test_a_token_that_is_known_by_its_form_is_cut_wherever_it_stands(token):
    assert token not in probe.redact(f"pulled with {token} from /x/{token}?k={token}")


@given(number=st.integers(min_value=10**7, max_value=10**12))
def test_a_number_that_is_a_secret_is_cut_and_leaves_json(number):
    cut = probe.redact(json.dumps({"password": number, "port": number + 1}))
    assert json.loads(cut) == {"password": probe.REDACTED, "port": number + 1}


@given(secret=WORD, before=st.text(alphabet="ab/:@. \n", max_size=20), after=st.text(alphabet="ab/:@. \n", max_size=20))
def test_what_stands_around_a_url_does_not_save_its_password(secret, before, after):
    assert secret not in probe.redact(f"{before}http://u:{secret}@h{after}")


def test_no_probe_and_no_run_lets_a_secret_out(tmp_path):
    """Every program, file below the roots and kernel log says secrets in all forms."""
    said = tmp_path / "said"
    said.write_text("\n".join(form.format("S3cr3tS3cr3t") for form in FORMS))
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    for name in ("sys/kernel/osrelease", "cmdline", "modules", "devices"):
        (tmp_path / "proc" / name).write_text(said.read_text())
    programs = "uname modinfo dkms dpkg-query nvidia-smi systemctl nvidia-ctk docker podman containerd runc stat getenforce getsebool aa-status ls"
    for name in programs.split():
        env = tool(tmp_path, name, f"exec /bin/cat {said}\n")
    runs = json.dumps([{**RUN, "argv": ["docker", "run"], "limit_s": 5}])
    bundle = probed("--procfs", f"{tmp_path}/proc", "--kernel-log", str(said), "--runs", runs, env=env)
    assert "S3cr3tS3cr3t" not in json.dumps(bundle)
    texts = {name: form.get("stdout", form.get("content", "")) for name, form in bundle["probes"].items()}
    assert {"dmesg", "kernel_cmdline", "lsmod", "docker_info", "dpkg_l"} <= {name for name, text in texts.items() if "\u00abredacted\u00bb" in text}
    assert "\u00abredacted\u00bb" in bundle["runs"][0]["stdout"]


def test_a_probes_own_error_is_redacted_too():
    def collect(_node):
        raise OSError("no answer from http://u:S3cr3t@proxy")

    assert "S3cr3t" not in probe.look(collect, None)["error"]


def test_a_text_made_to_be_slow_is_searched_in_seconds():
    start = time.monotonic()
    for piece in ("://a:", "a:", "password", "token=", '\\"auth', "a.-"):
        probe.redact(piece * (probe.LIMIT_BYTES // 8 // len(piece)))
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    "text",
    [
        '{"default-runtime": "runc", "registry-mirrors": ["https://mirror.example:5000"]}',
        '{"Authorization":null,"Plugins":{"auth":[]},"InitBinary":"docker-init"}',
        "BOOT_IMAGE=/boot/vmlinuz-6.12 root=/dev/vda1 ro modprobe.blacklist=nouveau crashkernel=2G-64G:128M@16M",
        "Security Options:\n  seccomp\n   Profile: builtin",
        "name=seccomp,profile=builtin no-new-privileges",
        "registry.example:5000/canary:1@sha256:0123abcd",
        "docker://registry.example:5000/canary@sha256:0123abcd",
        "https://registry.example/npm/@scope/package",
        "Maintainer: Debian GCC Maintainers <debian-gcc@lists.debian.org>",
        "author: NVIDIA <a@b.example>",
        "mailto:a@b.example",
        "root@gpu1:~# ssh admin@gpu2",
        "ii  passwd 1:4.13+dfsg1-1 amd64\nii  libsecret-1-0:amd64 0.20 amd64",
        "Started user@0.service at 12:30:01",
        "0000:17:00.0 [0302]: [10de:2236]",
        "base-passwd:amd64 3.6.7 install\nbase-passwd:amd64 3.6.7",
    ],
)
def test_what_is_no_secret_stays(text):
    assert probe.redact(text) == text


def test_cutting_secrets_keeps_json_readable():
    text = '{"auths": {"r": {"auth": "abcdef", "password": "p\\"q"}}, "runtimes": {"nvidia": {"path": "x"}}}'
    assert json.loads(probe.redact(text))["runtimes"] == {"nvidia": {"path": "x"}}


def test_cutting_a_containers_environment_keeps_json_readable():
    text = '{"env": [{"name": "HF_TOKEN", "value": "a b"}, {"name": "HOME", "value": "/root"}]}'
    assert json.loads(probe.redact(text))["env"] == [{"name": "HF_TOKEN", "value": probe.REDACTED}, {"name": "HOME", "value": "/root"}]


def test_cutting_secrets_keeps_toml_readable():
    assert tomllib.loads(probe.redact('password = "a b"\nnext = 1\n')) == {"password": probe.REDACTED, "next": 1}


def test_the_cuda_probe_may_make_large_files_as_the_drivers_library_does():
    source = "import os\nwith open(os.memfd_create('pool'), 'wb') as pool: pool.truncate(1 << 24)\nprint('made')"
    node = probe.Node(probe.options_of([]), source)
    assert probe.cuda_probe(node)["stdout"] == "made\n"


@pytest.mark.parametrize("size", [64, 20_000])
def test_backslashes_without_end_neither_hang_the_probe_nor_keep_a_secret(size):
    start = time.process_time()
    cut = probe.redact('app: {\\"token\\": \\"SEKRET' + "\\" * size + "a\\")
    assert time.process_time() - start < 5
    assert "SEKRET" not in cut


@pytest.mark.parametrize("piece", ["\\", "token: ", "token:" + " " * 50, "a:", "http://", '\\"'])
def test_a_text_made_to_be_slow_takes_time_in_proportion(piece):
    start = time.process_time()
    probe.redact(piece * (40_000 // len(piece)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "secret",
    [
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nSEKRET\n-----END PGP PRIVATE KEY BLOCK-----",
        "sk-proj-SEKRETSEKRETSEKRET",
        "npm_SEKRETSEKRETSEKRETSEKRET",
        "glrt-SEKRETSEKRETSEKRET",
        '{\\"token\\": \\"SEKRET\\',
    ],
)
def test_more_forms_of_secrets_are_cut(secret):
    assert "SEKRET" not in probe.redact(secret)


def test_a_pipe_in_place_of_a_file_is_refused_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    node = probe.Node(probe.options_of(["--kernel-log", f"{tmp_path}/pipe"]), None)
    assert "not a regular file" in probe.look(probe.kernel_log, node)["error"]
    assert probe.read_text(tmp_path / "pipe") is None


@pytest.mark.parametrize("arguments", [["--layers", "bogus"], ["--runs", "5"], ["--runs", "[{}]"], ["--runs", "{"]])
def test_wrong_arguments_are_refused_in_one_sentence(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        probe.options_of(arguments)
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
