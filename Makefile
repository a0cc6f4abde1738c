# Every target works on a clean clone: each depends on the stamp that `make setup` leaves.
SHELL := /bin/bash
COMMA := ,
SUDO := $(if $(filter 0,$(shell id -u)),,sudo --preserve-env=GOLDNODE_LAB$(COMMA)GOLDNODE_DEBIAN_MIRROR$(COMMA)XDG_CACHE_HOME$(COMMA)HOME)
RUN := .config/run
STAMP := .venv/.stamp

.PHONY: help setup check test nightly demo lab-down check-next

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## install what the project needs (apt and Python); quick the second time

$(STAMP): .config/setup .config/apt.txt .config/python.lock galaxy.yml
	.config/setup

check: $(STAMP) ## lint, types, unit tests (under 4 minutes)
	$(RUN) .config/check

test: $(STAMP) ## everything that CI runs (under 40 minutes, as root or with sudo)
	$(RUN) .config/test

nightly: $(STAMP) ## the long forms: the demo from nothing, faults on a booted machine; figures into docs/nightly.md
	$(SUDO) $(RUN) python -m tests.end_to_end.nightly

check-next: $(STAMP) ## the fast suite on ansible-core 2.21, where Python 3.12 or newer exists
	.config/check-next

demo: $(STAMP) ## lock, build, canary, promote, refuse a bad kernel, heal - on this machine, GPU simulated
	$(SUDO) $(RUN) python -m tests.end_to_end.demo

lab-down: $(STAMP) ## remove this clone's lab: nodes, networks, mounts, state
	$(SUDO) $(RUN) ansible-playbook goldnode.gpu.destroy_lab
