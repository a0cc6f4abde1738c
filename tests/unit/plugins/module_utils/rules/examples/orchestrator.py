"""Examples of the rules of layer orchestrator: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import form

PASSING = {
    "orchestrator.gpus_allocatable": form("node_allocatable", stdout='{"nvidia.com/gpu": "2"}', rc=0),
}

FAILING = {
    "orchestrator.gpus_allocatable": form("node_allocatable", stdout='{"nvidia.com/gpu": "0"}', rc=0),
}
