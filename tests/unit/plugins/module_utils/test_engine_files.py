"""Files that a daemon must come up with. A run is killed by an exception that nothing catches."""

from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.engine_files import former_of, take, unfinished
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


class Daemon:
    """Comes up with every text but those that hold `bad`; `killed` ends the run in place of the restart."""

    def __init__(self, *paths: Path, killed: bool = False) -> None:
        self.paths, self.killed, self.starts = paths, killed, 0

    def __call__(self) -> str | None:
        self.starts += 1
        if self.killed:
            raise KeyboardInterrupt
        return "unknown key bad" if any(path.exists() and "bad" in path.read_text() for path in self.paths) else None


def test_new_texts_are_taken_and_nothing_is_left(tmp_path):
    one, other = tmp_path / "a" / "one", tmp_path / "other"
    take({one: "1", other: "2"}, "it", Daemon(one, other))
    assert [path.name for path in sorted(tmp_path.rglob("*")) if path.is_file()] == ["one", "other"]
    assert (one.read_text(), other.read_text()) == ("1", "2")


def test_all_former_files_are_back_when_the_daemon_does_not_come_up(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("before")
    with pytest.raises(RefusedError, match=r"it does not come up with the new .*one and .*other: unknown key bad; the former file is back and the daemon runs"):
        take({one: "bad", other: "2"}, "it", Daemon(one, other))
    assert one.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_daemon_that_does_not_come_up_with_the_former_file_either_is_said(tmp_path):
    one = tmp_path / "one"
    one.write_text("bad before")
    with pytest.raises(RefusedError, match="nor does it come up with what was there before: unknown key bad"):
        take({one: "bad"}, "it", Daemon(one))


def test_a_killed_run_is_seen_and_the_next_one_goes_back_to_what_was_proven(tmp_path):
    one = tmp_path / "one"
    one.write_text("proven")
    with pytest.raises(KeyboardInterrupt):
        take({one: "bad"}, "it", Daemon(one, killed=True))
    assert unfinished({one: ""})
    assert former_of(one).read_text() == "proven"
    with pytest.raises(RefusedError):
        take({one: "bad again"}, "it", Daemon(one))
    assert one.read_text() == "proven"
    assert not unfinished({one: ""})


def test_no_text_removes_the_file(tmp_path):
    one = tmp_path / "one"
    one.write_text("before")
    take({one: ""}, "it", Daemon(one))
    assert list(tmp_path.iterdir()) == []
