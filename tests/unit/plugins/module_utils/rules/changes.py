"""Changes of the good node and its lock: what a rule's examples are made of. Each is a function `(evidence, lock) -> None`."""


def text(probe, old, new):
    """A change of what one probe printed."""

    def change(evidence, lock):
        form = evidence["probes"][probe]
        key = next(key for key in ("stdout", "content", *form) if key in form)
        assert old in form[key]
        form[key] = form[key].replace(old, new)

    return change


def form(probe, **value):
    """Another form of one probe's value."""
    return lambda evidence, lock: evidence["probes"].update({probe: dict(value)})


def pin(*path, value):
    """A change of the lock's pins."""

    def change(evidence, lock):
        *parents, last = path
        pins = lock["pins"]
        for key in parents:
            pins = pins[key]
        pins[last] = value

    return change


def both(*changes):
    """Several changes, one after the other."""

    def change(evidence, lock):
        for one in changes:
            one(evidence, lock)

    return change


def ran(stderr="", **run):
    """One more GPU container run, by default one by docker run --gpus that did not start."""
    declared = {"engine": "docker", "request": "gpus", "rc": 125, "stderr": stderr}
    return lambda evidence, lock: evidence.setdefault("runs", []).append({**declared, **run})
