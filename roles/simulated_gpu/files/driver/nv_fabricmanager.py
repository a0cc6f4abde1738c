"""A stand-in for the fabric manager: initialises the fabric of an NVSwitch system and stays.

Its version must be the driver's exactly (Fabric Manager User Guide). Simpler than the real thing: no topology; the
fabric goes back to "In Progress" when it stops, and NVLink subnet manager and InfiniBand devices are not asked for.
"""

import signal
from pathlib import Path

DRIVER = Path("/run/goldnode-lab/proc/driver/nvidia")
VERSION = "@version@"
NOTHING_TO_DO = "request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"


def fabric():
    """The state of the fabric, or None without driver."""
    facts = DRIVER / "goldnode"
    lines = facts.read_text().splitlines() if facts.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("Fabric:")), None)


def set_fabric(state):
    facts = DRIVER / "goldnode"
    lines = facts.read_text().splitlines(keepends=True)
    new = facts.with_name(".goldnode.new")
    new.write_text("".join(f"{'Fabric:':<20} {state}\n" if line.startswith("Fabric:") else line for line in lines))
    new.replace(facts)


def refuse_what_cannot_work():
    version = DRIVER / "version"
    if not version.exists():
        raise SystemExit("failed to open NVSwitch driver: the NVIDIA driver is not loaded")
    loaded = next(word for word in version.read_text().split() if word[0].isdigit() and "." in word)
    if loaded != VERSION:
        raise SystemExit(
            f"fabric manager NVIDIA GPU driver interface version {VERSION} don't match with driver version {loaded}. "
            "Please update with matching NVIDIA driver package."
        )
    if fabric() == "Not Needed":
        raise SystemExit(NOTHING_TO_DO)


def main():
    refuse_what_cannot_work()
    stop = [signal.SIGTERM, signal.SIGINT]
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    set_fabric("Completed")
    print("Successfully configured all the available NVSwitches to route GPU NVLink traffic.", flush=True)
    signal.sigwait(stop)
    set_fabric("In Progress")


if __name__ == "__main__":
    main()
