# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The words by which a request for a GPU says that it found no toolkit, no runtime or no CDI device; the rules of toolkit and engine read them."""

from __future__ import annotations

# moby daemon/devices.go since 19.03; the driver's name is empty for --gpus, `nvidia` in Compose.
NO_GPU_DRIVER = r"could not select device driver (?:\\?\"(?:nvidia)?\\?\" )?with capabilities: \[\[[^\]]*\]*"
# moby daemon/runtime; `Unknown runtime specified` until 20.10.
NO_RUNTIME = r"(?:unknown or invalid runtime name|unknown runtime specified):? \\?\"?nvidia\b"
# Go's os/exec, runc, crun, containerd's shim, the shell; the second form is enroot's.
NO_PROGRAM = (
    r"(?P<what>(?<![\w./-])[\w./-]*nvidia-container-(?:runtime(?:-hook)?|toolkit|cli)(?:\.real)?)[\\\"'`]*:?\s*(?:stat \S+ )?"
    r"(?:(?:executable file |command )?not found|no such file or directory)"
    r"|command not found: (?P<shell>nvidia-container-cli)"
)
# The CDI library in podman, docker, containerd, CRI-O and nvidia-container-runtime; the device plugin writes its own specs.
UNRESOLVABLE = r"unresolvable CDI devices?\s+(?P<what>(?!k8s\.device-plugin)[\w.-]*nvidia\.com/[\w./-]+=[\w.:-]*\w)"
