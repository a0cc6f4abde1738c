# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What other processes, MIG, MPS and the compute mode leave of a GPU."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_symptoms import BUSY, MIG_SEVERAL, MPS, OUT_OF_MEMORY
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import complaint, heard, not_seen, without_toolkit

DESKTOP_MIB = 1024


def smi(facts: Facts) -> str:
    """nvidia-smi's tables and lists on the host."""
    return "\n".join(text for name in ("nvidia_smi", "nvidia_smi_q", "nvidia_smi_list", "nvidia_smi_query") if (text := facts.bundle.output(name)))


def with_mig(facts: Facts) -> bool:
    """Whether MIG is in use."""
    stated = [str(value).lower() for name, value in facts.bundle.stated.items() if "mig" in name.split("_")]
    return bool(
        set(stated) - {"disabled", "false", "none", "n/a", "off"}
        or re.search(
            r"MIG \d+g\.|MIG-[0-9a-f]{8}|MIG-GPU-|MIG Mode\s*\n\s*Current\s*: Enabled|\|\s+Enabled\s+\|", smi(facts) + str(facts.container_environment or "")
        )
    )


def listed_processes(facts: Facts) -> list[str]:
    """The processes that nvidia-smi lists, if they hold more than a desktop's few hundred MiB."""
    found = sorted(set(re.findall(r"\|\s+\d+\s+(?:N/A\s+N/A\s+)?(\d+)\s+[CG+]+\s+(\S+)\s+(\d+)MiB", smi(facts))))
    held = sum(int(mib) for _pid, _name, mib in found)
    return [f"{pid} {name} {mib}MiB" for pid, name, mib in found] if held >= DESKTOP_MIB else []


def other_processes(words: str) -> list[str]:
    """The processes that PyTorch names, without its own: by its pid of the host it does not know itself, so it is the one that holds what PyTorch has."""
    line = words.partition("\n")[0]
    held = {pid: float(size) * (1024 if unit == "G" else 1) for pid, size, unit in re.findall(r"Process (\d+) has ([\d.]+) ([GM])iB memory in use", line)}
    mine = re.search(r"Of the allocated memory ([\d.]+) ([GM])iB is allocated by PyTorch", line)
    if mine and "this process has" not in line:
        allocated = float(mine.group(1)) * (1024 if mine.group(2) == "G" else 1)
        held.pop(min((pid for pid in held if held[pid] >= allocated), key=held.__getitem__, default=""), None)
    return [f"pid {pid}" for pid in held]


@rule(
    "cuda.out_of_memory",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom="CUDA out of memory (2) at the start of a program that fits the GPU.",
    cause="The GPU's memory is taken by other processes or containers, or the program needs more than the GPU has.",
    fix="End or move the processes that nvidia-smi lists, give each container its own GPU or MIG instance, or lower batch, context or memory fraction.",
    verify="nvidia-smi shows the memory free before the start.",
    source="PyTorch CUDA semantics, memory management; vLLM gpu_memory_utilization",
)
def memory_suffices(facts: Facts, wanted: Wanted) -> Outcome:
    """The GPU has the memory that the program asks for"""
    found, said = complaint(facts, OUT_OF_MEMORY), heard(facts, OUT_OF_MEMORY)
    if found is None or said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    others = listed_processes(facts) or other_processes(found[0].text[found[1].start() :])
    if others:
        listed = ", ".join(others[:5])
        return failed("free memory", said, cause=f"The GPU's memory is taken by other processes ({listed}), so the program's allocation fails.")
    why = "The program asks for more GPU memory than is free: other processes hold it, or model and batch need more than the GPU has."
    return unknown(said, cause=why, decided_by="nvidia-smi on the host just before the start: its process list and used memory")


@rule(
    "cuda.device_busy",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom="all CUDA-capable devices are busy or unavailable (46).",
    cause="The GPU is in compute mode Exclusive_Process and another process holds it, or Prohibited; or MIG is enabled without a compute instance.",
    fix="nvidia-smi -c DEFAULT, or end the process that holds the GPU; with MIG create instances: nvidia-smi mig -cgi 19 -C; after an Xid reset the GPU.",
    verify="nvidia-smi -q -d COMPUTE shows Default.",
    source="cuda.h of CUDA 13.5; nvidia-smi(1) compute mode",
)
def device_is_free(facts: Facts, wanted: Wanted) -> Outcome:
    """The GPU accepts another process"""
    said = heard(facts, BUSY)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    mode = re.search(
        r"Compute Mode\s*:\s*(Exclusive_Process|Prohibited|Exclusive_Thread)|\b(E\. Process|Prohibited|E\. Thread)\b|(Exclusive_Process|Prohibited)", smi(facts)
    )
    if mode:
        name = next(group for group in mode.groups() if group)
        return failed("compute mode Default", said, cause=f"The GPU's compute mode is {name}: one process alone may use it, and another holds it or none may.")
    why = "Another process holds the GPU in an exclusive compute mode, MIG has no compute instance, or the GPU needs a reset after an Xid."
    return unknown(said, cause=why, decided_by="nvidia-smi -q -d COMPUTE,MIG and the kernel log's Xid lines")


@rule(
    "cuda.mps",
    layer=CUDA,
    probes=(),
    symptom="MPS client failed to connect to the MPS control daemon or the MPS server (805, 807).",
    cause="CUDA_MPS_PIPE_DIRECTORY exists in the container, and the control daemon behind it does not run, belongs to another user, or is not shared.",
    fix="Start nvidia-cuda-mps-control -d on the host as the same user, mount its pipe directory (/tmp/nvidia-mps) and use --ipc=host; or unset the variable.",
    verify="echo get_server_list | nvidia-cuda-mps-control answers.",
    source="NVIDIA Multi-Process Service guide; cuda.h of CUDA 13.5",
)
def mps_answers(facts: Facts, wanted: Wanted) -> Outcome:
    """The MPS daemon answers, where a container uses it"""
    said = heard(facts, MPS)
    return not_seen(facts, wanted) if said is None or without_toolkit(wanted) else failed("an MPS daemon that answers", said)


@rule(
    "cuda.mig_one_instance",
    layer=CUDA,
    probes=("nvidia_smi_list",),
    symptom="On a GPU with MIG a program that asks for several devices sees one; NCCL finds a duplicate GPU; device ordinal 1 is invalid.",
    cause="A CUDA process uses one MIG instance, however many the container got; instances have no peer access and no NCCL between them.",
    fix="Start one process per instance (CUDA_VISIBLE_DEVICES=MIG-<uuid>), ask for one larger instance, or turn MIG off for multi-GPU work: nvidia-smi -mig 0.",
    verify="CUDA counts one device.",
    source="NVIDIA MIG User Guide, CUDA device enumeration",
)
def one_instance_is_enough(facts: Facts, wanted: Wanted) -> Outcome:
    """A program on MIG asks for one instance"""
    said = heard(facts, MIG_SEVERAL) if with_mig(facts) else None
    return not_seen(facts, wanted) if said is None or without_toolkit(wanted) else failed("one MIG instance per process", said)
