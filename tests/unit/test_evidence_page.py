import re
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import known_probes

PAGE = Path(__file__).parents[2] / "docs/evidence.md"


def test_the_page_names_every_probe_and_no_other():
    table = PAGE.read_text().split("| layer | what the report shows | name |\n")[1].split("\n\n")[0]
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[-1])}
    assert named == known_probes()
