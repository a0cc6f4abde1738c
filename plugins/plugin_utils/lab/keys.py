# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Keys and certificates of a lab, made once, all below `<state>/keys` (0700)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import run
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab

DAYS = "3650"  # longer than any lab lives


def keys_dir(lab: Lab) -> Path:
    return lab.state / "keys"


def user_key(lab: Lab) -> Path:
    """The key that logs in to the nodes."""
    return keys_dir(lab) / "id_ed25519"


def authority(lab: Lab) -> Path:
    """The lab's certificate authority."""
    return keys_dir(lab) / "ca.crt"


def host_key(lab: Lab, node: str) -> Path:
    """A node's SSH host key. It belongs to the node, not to a root, so a re-created node is known at once."""
    return lab.node_dir(node) / "ssh_host_ed25519_key"


def ensure_ssh_key(path: Path, comment: str) -> None:
    """ssh-keygen writes the private key first, so a pair without its public half is made anew."""
    public = path.with_name(f"{path.name}.pub")
    if public.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path])


def ensure_authority(lab: Lab) -> None:
    certificate = authority(lab)
    if not certificate.is_file():
        _certificate(lab, "ca", f"/CN=goldnode lab {lab.id} authority", ["-x509", "-days", DAYS, "-addext", "keyUsage=critical,keyCertSign,cRLSign"])


def ensure_registry_certificate(lab: Lab) -> None:
    """For the hub's address, signed by the lab's authority."""
    if (keys_dir(lab) / "registry.crt").is_file():
        return
    signer: list[str | Path] = ["-x509", "-days", DAYS, "-CA", authority(lab), "-CAkey", keys_dir(lab) / "ca.key"]
    _certificate(lab, "registry", f"/CN={lab.hub}", [*signer, "-addext", f"subjectAltName=IP:{lab.hub}", "-addext", "basicConstraints=critical,CA:FALSE"])


def _certificate(lab: Lab, name: str, subject: str, extra: list[str | Path]) -> None:
    """The key, then the certificate by rename: a certificate that is there has its key."""
    key, fresh = keys_dir(lab) / f"{name}.key", keys_dir(lab) / f"{name}.new"
    run(["openssl", "req", "-newkey", "ed25519", "-nodes", "-subj", subject, *extra, "-keyout", key, "-out", fresh])
    fresh.rename(keys_dir(lab) / f"{name}.crt")


def gnupg_home(lab: Lab) -> Path:
    return keys_dir(lab) / "gnupg"


def _gpg(lab: Lab, *words: str | Path, stdin: str | None = None) -> str:
    """gpg with the lab's own home; its agent ends with the call, so nothing stays behind."""
    home = gnupg_home(lab)
    try:
        return run(["gpg", "--homedir", home, "--batch", "--no-tty", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", *words], stdin=stdin)
    finally:
        run(["gpgconf", "--homedir", home, "--kill", "all"])


def ensure_repository_key(lab: Lab) -> str:
    """The fingerprint of the key that signs the lab's repositories. Its public half lies beside, in ASCII."""
    public = repository_public_key(lab)
    if not public.is_file():
        shutil.rmtree(gnupg_home(lab), ignore_errors=True)
        gnupg_home(lab).mkdir(mode=0o700)
        _gpg(lab, "--quick-generate-key", f"goldnode lab {lab.id} repository", "ed25519", "sign", "never")
        write_text(public, _gpg(lab, "--armor", "--export"))
    return fingerprint(_gpg(lab, "--with-colons", "--list-keys"))


def repository_public_key(lab: Lab) -> Path:
    return keys_dir(lab) / "repository.asc"


def fingerprint(colons: str) -> str:
    """Of the first key in gpg's listing with colons."""
    found = re.search(r"^fpr:{9}([0-9A-F]{40}):", colons, re.MULTILINE)
    if found is None:
        raise ValueError("gpg listed no key with a fingerprint")
    return found[1]


def sign_release(lab: Lab, release: Path) -> None:
    """InRelease beside Release, by rename."""
    fresh = release.with_name(".InRelease")
    fresh.unlink(missing_ok=True)
    _gpg(lab, "--clear-sign", "--output", fresh, release)
    fresh.replace(release.with_name("InRelease"))


def ensure_all(lab: Lab) -> None:
    keys_dir(lab).mkdir(parents=True, exist_ok=True)
    keys_dir(lab).chmod(0o700)
    ensure_ssh_key(user_key(lab), f"goldnode lab {lab.id}")
    ensure_authority(lab)
    ensure_registry_certificate(lab)
    ensure_repository_key(lab)
    for node in lab.nodes:
        ensure_ssh_key(host_key(lab, node), node)
