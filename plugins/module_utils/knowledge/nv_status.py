# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`RmInitAdapter failed! (0x<where>:0x<status>:<line>)`: what the status says; <line> changes with each driver.

Sources: names from nvstatuscodes.h of NVIDIA/open-gpu-kernel-modules (2025); what they came from in public reports up to 2026-11:
open-gpu-kernel-modules #246 #326 #789 #862 #1058 #1230, gpu-operator #649 #1146, geerlingguy/raspberry-pi-pcie-devices #549.
"""

from __future__ import annotations

STATUSES = {
    0x0F: ("GPU_IS_LOST", "the GPU is lost from the bus"),
    0x11: ("GPU_NOT_FULL_POWER", "the GPU is not in full power"),
    0x1A: ("INSUFFICIENT_RESOURCES", "the system gives the GPU too few resources (memory, address space)"),
    0x1C: ("INSUFFICIENT_POWER", "the GPU's auxiliary power is not connected"),
    0x1F: ("INVALID_ARGUMENT", "the GPU's firmware refused what the driver gave it"),
    0x25: ("INVALID_DATA", "the driver cannot use the GPU's VBIOS or firmware data"),
    0x26: ("INVALID_DEVICE", "the device is not what the driver expects"),
    0x31: ("INVALID_OBJECT", "the driver's own set-up failed"),
    0x38: ("INVALID_OPERATION", "the operation is not valid in this state"),
    0x40: ("INVALID_STATE", "the GPU is in a state left over from before, and must be reset or power-cycled"),
    0x45: ("IRQ_NOT_FIRING", "the GPU's interrupts do not arrive, as with broken passthrough (IOMMU, MSI)"),
    0x47: ("MEMORY_TRAINING_FAILED", "the GPU's memory cannot be trained"),
    0x51: ("NO_MEMORY", "memory ran out"),
    0x55: ("NOT_READY", "the GPU is not ready"),
    0x56: ("NOT_SUPPORTED", "this driver, or this kind of kernel module, does not support the GPU"),
    0x59: ("OPERATING_SYSTEM", "the kernel refused something, for example to map the GPU"),
    0x61: ("REJECTED_VBIOS", "the GPU's VBIOS is rejected"),
    0x62: ("RESET_REQUIRED", "the GPU must be reset"),
    0x65: ("TIMEOUT", "the GPU or its firmware did not answer in time"),
    0x6F: ("PMU_NOT_READY", "the GPU's power controller is not ready"),
    0x70: ("FLCN_ERROR", "a micro-controller of the GPU halted"),
    0x71: ("FATAL_ERROR", "the GPU reports an unrecoverable error"),
    0x72: ("MEMORY_ERROR", "the GPU's memory or firmware could not be set up"),
    0x79: ("RISCV_ERROR", "the GPU's GSP processor halted"),
    0x7F: ("SECURE_BOOT_FAILED", "the GPU's firmware did not pass its own secure boot"),
    0xFFFF: ("GENERIC", "initialisation failed without a reason given"),
}
# Statuses that speak of the GPU itself rather than of the software on it.
OF_THE_GPU = frozenset({0x0F, 0x11, 0x1C, 0x47, 0x61, 0x70, 0x71, 0x7F})
