"""A stand-in for nvidia-cdi-hook: what a container needs done before its root is entered.

It runs as a createContainer hook: in the container's mount namespace, with the node's files still in sight.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/libnvidia-container")
import injection
import toolkit


def root():
    """The container's root, from the OCI state on stdin."""
    state = json.load(sys.stdin)
    return injection.root_of(json.loads(Path(state["bundle"], "config.json").read_text()), state["bundle"])


def update_ldcache(_arguments):
    """The container's linker cache, written by the node's ldconfig: an image may have none."""
    subprocess.run(["/sbin/ldconfig", "-r", root()], check=True)


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="nvidia-cdi-hook")
    parser.add_argument("--version", action="version", version=f"NVIDIA CDI Hook version {toolkit.VERSION}")
    which = parser.add_subparsers(required=True)
    cache = which.add_parser("update-ldcache")
    cache.add_argument("--folder", action="append")
    cache.set_defaults(run=update_ldcache)
    return parser.parse_args(words)


if __name__ == "__main__":
    chosen = arguments_of(sys.argv[1:])
    chosen.run(chosen)
