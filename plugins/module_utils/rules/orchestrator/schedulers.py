# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Other schedulers: Slurm's generic resources, Docker Swarm's, Nomad's device plugin."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ORCHESTRATOR
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import line_of

SLURM = (
    r"gres/gpu count (?:reported lower than configured|too low)[^\n]*|can't stat gres\.conf file[^\n]*|waiting for gres\.conf file[^\n]*"
    r"|gres\.conf[^\n]*duplicate[^\n]*"
    r"|configured to autodetect nvml functionality[^\n]*|discarding the following config-only gpu[^\n]*|ignoring file-less gpu[^\n]*|invalid gres[^\n]*"
)


@rule(
    "orchestrator.slurm_gres",
    layer=ORCHESTRATOR,
    probes=("app_log",),
    symptom="Slurm sets the node to DRAIN or INVAL: gres/gpu count reported lower than configured (7 < 8).",
    cause="gres.conf and slurm.conf name more or other GPUs than slurmd finds on the node.",
    fix="Compare nvidia-smi -L and slurmd -G with Gres= of slurm.conf and gres.conf (AutoDetect=nvml, or File=/dev/nvidia[0-7]); bring the missing GPU or "
    "the configuration back, restart "
    "slurmd, scontrol update nodename=<node> state=resume. ConstrainDevices=yes in cgroup.conf keeps jobs to their GPUs.",
    verify="sinfo -N -o '%N %G %T' shows the node idle with all GPUs.",
    source="Slurm, gres.conf(5); awslabs/awsome-distributed-ai #195; NVIDIA/deepops #1214; ComputeCanada/puppet-magic_castle #361",
)
def slurm_gres(facts: Facts, wanted: Wanted) -> Outcome:
    """Slurm counts the GPUs that are there"""
    text = "\n".join([*(message.text for message in facts.messages or ()), *(f"{key}: {value}" for key, value in facts.bundle.stated.items())])
    found = needles.search(SLURM, text)
    if found is None:
        slurm = "slurm" in text.lower()
        return passed("nothing about gres in Slurm's words") if slurm else not_applicable("no words of Slurm in the evidence")
    said = line_of(text, found.start())
    return failed("as many GPUs as gres.conf says", said, cause=f"Slurm's gres.conf and slurm.conf do not fit the GPUs that slurmd finds: {said}")


@rule(
    "orchestrator.swarm_resources",
    layer=ORCHESTRATOR,
    probes=("docker_info", "docker_daemon_json", "toolkit_config"),
    symptom="A Swarm service stays Pending: no suitable node (insufficient resources), or its tasks see no GPU, or not the one assigned.",
    cause="Docker Swarm gives GPUs as generic resources, and this node does not offer them to the toolkit: node-generic-resources in daemon.json and "
    "swarm-resource in config.toml belong together.",
    fix='Set "node-generic-resources": ["NVIDIA-GPU=<uuid>", …] and the default runtime nvidia in daemon.json, swarm-resource = "DOCKER_RESOURCE_NVIDIA-GPU" '
    "in "
    "/etc/nvidia-container-runtime/config.toml, restart docker, and reserve generic_resources in the stack; deploy.resources.reservations.devices does not "
    "work with docker stack deploy.",
    verify="docker node inspect self shows GenericResources, and a task sees its GPU.",
    source="Docker, dockerd node-generic-resources; knowledge: Swarm and device reservations",
)
def swarm_resources(facts: Facts, wanted: Wanted) -> Outcome:
    """A Swarm node offers its GPUs as generic resources"""
    if (facts.docker_info or {}).get("Swarm", {}) in ({}, None) or facts.docker_config is None:
        return not_applicable("the node is in no Swarm, as far as the evidence says")
    offered = facts.docker_config.get("node-generic-resources")
    taken = re.search(r"^[ \t]*swarm-resource\s*=", facts.bundle.text("toolkit_config") or "", re.M)
    if not offered and not taken:
        return not_applicable("GPUs are not offered to Swarm")
    if offered and taken:
        return passed(", ".join(str(item) for item in offered))
    missing = "swarm-resource in config.toml" if offered else "node-generic-resources in daemon.json"
    return failed("node-generic-resources and swarm-resource", f"no {missing}", confidence="medium")
