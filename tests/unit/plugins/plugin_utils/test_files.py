import os
import subprocess
import sys

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text


def test_writing_the_same_text_again_changes_nothing(tmp_path):
    path = tmp_path / "a" / "b"
    assert write_text(path, "x", 0o600)
    assert not write_text(path, "x", 0o600)
    assert write_text(path, "x", 0o644)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_file_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path):
    write_text(tmp_path / "b.json", "1")
    assert write_text(tmp_path / "b.json", "2 · ü")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("b.json", "2 · ü")]


def test_a_writer_killed_before_the_rename_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.lock.yml"
    write_text(path, "old")
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from ansible_collections.goldnode.gpu.plugins.plugin_utils import files\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_text(Path(sys.argv[1]), 'new')\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert done.returncode == -9
    assert path.read_text() == "old"
    write_text(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.glob("*.lock.yml")) == [path]
