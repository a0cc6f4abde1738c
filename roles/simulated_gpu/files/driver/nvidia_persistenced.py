"""A stand-in for the persistence daemon: sets persistence mode on every GPU and stays.

Simpler than the real thing: it runs in the foreground, and what it tells the driver is one line of the lab's facts.
"""

import signal
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/nvidia-ml")
import nvml

GPUS = Path("/run/goldnode-lab/proc/driver/nvidia/gpus")
REFUSED = (
    "Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, "
    "and that user 0 has read and write permissions for those files."
)


def set_persistence(mode):
    for facts in GPUS.glob("*/goldnode"):
        lines = facts.read_text().splitlines(keepends=True)
        new = facts.with_name(".goldnode.new")
        new.write_text("".join(f"{'Persistence Mode:':<20} {mode}\n" if line.startswith("Persistence Mode:") else line for line in lines))
        new.replace(facts)


def main():
    try:
        if not nvml.Nvml().devices():
            raise SystemExit(REFUSED)
    except (OSError, nvml.NvmlError) as error:
        raise SystemExit(REFUSED) from error
    stop = [signal.SIGTERM, signal.SIGINT]
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    set_persistence("Enabled")
    signal.sigwait(stop)
    set_persistence("Disabled")


if __name__ == "__main__":
    main()
