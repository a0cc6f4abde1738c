# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Building a container image out of Debian packages and files: a tar by mmdebstrap, an OCI layout by umoci, a registry by skopeo.

Everything carries the recipe's one time, so the same recipe over the same package archive gives the same digest. No root is needed: the
packages are unpacked, none of their scripts runs.
"""

from __future__ import annotations

import calendar
import fcntl
import hashlib
import json
import shlex
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

Recipe = Mapping[str, Any]
Run = Callable[[Sequence[str], Mapping[str, str]], str]
TAG = "image"


class ImageError(Exception):
    """One sentence: what, expected, observed, what to do."""


def debian_mirror(indextargets: str) -> str:
    """The Debian archive that this machine itself uses, out of `apt-get indextargets --format '$(ORIGIN) $(SUITE) $(REPO_URI)'`."""
    for line in indextargets.splitlines():
        origin, suite, uri = line.split(" ", 2)
        if origin == "Debian" and "security" not in suite:
            return uri
    raise ImageError("apt on this machine knows no Debian archive to build the container image from; name one with the parameter mirror.")


def source_of(file: Mapping[str, str], source_dir: Path) -> Path:
    """Where a file of the recipe lies on the controller."""
    source = source_dir / file["source"]
    if not source.is_file():
        raise ImageError(f"The recipe names the file {file['source']}, which is not in {source_dir}; correct the recipe or source_dir.")
    return source


def recipe_key(recipe: Recipe, source_dir: Path, architecture: str, mirror: str) -> str:
    """What names a built image in the cache: the recipe, the content of its files, the architecture and the archive; 64 hex digits."""
    contents = [hashlib.sha256(source_of(file, source_dir).read_bytes()).hexdigest() for file in recipe["files"]]
    return hashlib.sha256(json.dumps([recipe, contents, architecture, mirror], sort_keys=True).encode()).hexdigest()


def epoch(created: str) -> str:
    """Seconds since 1970 of an RFC 3339 time in UTC, as SOURCE_DATE_EPOCH has them."""
    try:
        return str(calendar.timegm(time.strptime(created, "%Y-%m-%dT%H:%M:%SZ")))
    except ValueError:
        raise ImageError(f'The recipe\'s time is "{created}"; write it as 2026-01-01T00:00:00Z.') from None


def install_command(source: Path, target: str) -> str:
    """What mmdebstrap's shell runs to put a file into the root, which it names in `$1`."""
    return f'install -D -m 0644 {shlex.quote(str(source))} "$1"{shlex.quote(target)}'


def root_argv(recipe: Recipe, source_dir: Path, architecture: str, mirror: str, tar: Path) -> list[str]:
    """Unpacks the packages and files into a tar."""
    filters = [f"--dpkgopt=path-exclude={path}" for path in recipe["exclude"]] + [f"--dpkgopt=path-include={path}" for path in recipe["include"]]
    hooks = [f"--extract-hook={install_command(source_of(file, source_dir), file['target'])}" for file in recipe["files"]]
    packages = ",".join(recipe["packages"])
    options = ["--quiet", "--variant=extract", f"--architectures={architecture}", f"--include={packages}", *filters, *hooks]
    return ["mmdebstrap", *options, recipe["suite"], str(tar), mirror]


def layout_argvs(recipe: Recipe, architecture: str, tar: Path, layout: Path) -> list[list[str]]:
    """Turns the tar into an image of one layer in a new OCI layout."""
    image, created = f"--image={layout}:{TAG}", recipe["created"]
    config = [f"--config.user={recipe['user']}", f"--architecture={architecture}", "--os=linux", f"--created={created}", "--no-history"]
    config += [f"--config.env={setting}" for setting in recipe["environment"]]
    config += [f"--config.entrypoint={word}" for word in recipe["entrypoint"]]
    return [
        ["umoci", "init", f"--layout={layout}"],
        ["umoci", "new", image],
        ["umoci", "raw", "add-layer", image, f"--history.created={created}", "--history.created_by=goldnode.gpu.container_image", str(tar)],
        ["umoci", "config", image, *config],
        ["umoci", "gc", f"--layout={layout}"],
    ]


def manifest_digest(layout: Path) -> str:
    """The digest of the image in an OCI layout."""
    index = json.loads((layout / "index.json").read_text())
    return str(index["manifests"][0]["digest"])


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One builder at a time; the lock goes with its process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def build(recipe: Recipe, source_dir: Path, architecture: str, mirror: str, layout: Path, run: Run) -> None:
    """Makes the OCI layout; it appears under its name only when it is whole."""
    partial = layout.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    tar = partial / "root.tar"
    run(root_argv(recipe, source_dir, architecture, mirror, tar), {"SOURCE_DATE_EPOCH": epoch(recipe["created"])})
    for argv in layout_argvs(recipe, architecture, tar, partial / "layout"):
        run(argv, {})
    (partial / "layout").replace(layout)
    shutil.rmtree(partial)


def push_argv(layout: Path, repository: str, tag: str, certificates: Path | None) -> list[str]:
    """Copies the image into the registry without changing a byte of its manifest. The tag keeps the registry's garbage collector away."""
    trust = [f"--dest-cert-dir={certificates}"] if certificates else []
    return ["skopeo", "copy", "--quiet", "--preserve-digests", *trust, f"oci:{layout}:{TAG}", f"docker://{repository}:{tag}"]


def inspect_argv(reference: str, certificates: Path | None) -> list[str]:
    """Asks the registry for the manifest."""
    trust = [f"--cert-dir={certificates}"] if certificates else []
    return ["skopeo", "inspect", "--raw", *trust, f"docker://{reference}"]
