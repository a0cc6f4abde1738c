"""The examples of all layers that a host shows by itself."""

from . import container_toolkit, device_nodes, driver, engine, hardware, kernel, orchestrator, policy

LAYERS = (hardware, kernel, driver, device_nodes, engine, container_toolkit, policy, orchestrator)
PASSING = {name: change for layer in LAYERS for name, change in layer.PASSING.items()}
FAILING = {name: change for layer in LAYERS for name, change in layer.FAILING.items()}
