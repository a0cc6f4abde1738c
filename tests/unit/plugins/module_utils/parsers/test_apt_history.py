import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.apt_history import last_move, transactions
from hypothesis import given
from hypothesis import strategies as st

# Written by apt 3.0 (trixie); the second by unattended-upgrades, the third by a person through sudo.
LOG = """
Start-Date: 2026-11-27  20:01:02
Commandline: apt-get install docker.io=26.1.5+dfsg1-9+b13
Install: docker.io:amd64 (26.1.5+dfsg1-9+b13), runc:amd64 (1.1.15+ds1-2+b8, automatic)
End-Date: 2026-11-27  20:01:20

Start-Date: 2026-11-28  06:12:13
Commandline: /usr/bin/unattended-upgrade
Upgrade: runc:amd64 (1.1.15+ds1-2+b8, 1.1.15+ds1-2+b9), libc6:amd64 (2.41-12, 2.41-13)
End-Date: 2026-11-28  06:12:20

Start-Date: 2026-11-29  09:10:11
Commandline: apt-get --allow-change-held-packages full-upgrade
Requested-By: admin (1000)
Upgrade: docker.io:amd64 (26.1.5+dfsg1-9+b13, 26.1.5+dfsg1-9+b14)
Remove: nvidia-smi:amd64 (550.163.01-2)
End-Date: 2026-11-29  09:10:20
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("runc", "/usr/bin/unattended-upgrade, 2026-11-28 06:12:13"),
        ("docker.io", "apt-get --allow-change-held-packages full-upgrade by admin (1000), 2026-11-29 09:10:11"),
        ("nvidia-smi", "apt-get --allow-change-held-packages full-upgrade by admin (1000), 2026-11-29 09:10:11"),
        ("containerd", None),
    ],
)
def test_the_last_transaction_that_touched_a_package_is_named(name, said):
    moved = last_move(transactions(LOG), name)
    assert (str(moved) if moved else None) == said


def test_what_was_done_to_each_package_is_kept():
    first, _, last = transactions(LOG)
    assert first.packages == {"docker.io": "install", "runc": "install"}
    assert last.packages == {"docker.io": "upgrade", "nvidia-smi": "remove"}


def test_a_log_that_begins_in_the_middle_of_a_transaction_loses_only_that_one():
    assert len(transactions(LOG[60:])) == 2


@given(st.text())
def test_any_text_is_some_log(text):
    for one in transactions(text):
        assert isinstance(str(one), str)
