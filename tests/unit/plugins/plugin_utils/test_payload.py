import base64
import zlib

from ansible_collections.goldnode.gpu.plugins.plugin_utils.payload import SOURCES, packed, payload


def test_what_is_packed_unpacks_to_the_same_text():
    text = (SOURCES / "cuda_probe.py").read_text()
    assert zlib.decompress(base64.b64decode(packed(text))).decode() == text


def test_the_payload_is_the_probe_with_one_line_replaced():
    changed = set(payload().splitlines()) ^ set((SOURCES / "probe.py").read_text().splitlines())
    assert {line.split(" = ")[0] for line in changed} == {"CUDA_PROBE_SOURCE"}
