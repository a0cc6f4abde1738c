"""Allows more devices to a running container on cgroup v2, as libnvidia-container does.

runc leaves one device program on the container's scope. This one loads its own (the container's rules and the GPU's
nodes), attaches it and detaches the old one. systemd knows nothing of it: when it applies the scope's own rules again
(after a daemon-reload), its program is added, both must allow, and the GPU is gone. That is the known loss.
"""

import ctypes
import os
import struct

SYSCALL_BPF = 321  # x86_64
PROG_LOAD, PROG_ATTACH, PROG_DETACH, PROG_GET_FD_BY_ID, PROG_QUERY = 5, 8, 9, 13, 16  # enum bpf_cmd
TYPE_CGROUP_DEVICE, ATTACH_CGROUP_DEVICE, ALLOW_MULTI = 15, 6, 2
TYPES = {"b": 1, "c": 2}  # BPF_DEVCG_DEV_*
ACCESS = {"m": 1, "r": 2, "w": 4}  # BPF_DEVCG_ACC_*
ALL = 7
INSTRUCTION = struct.Struct("<BBhi")
LOAD_WORD, MOVE, MOVE_NUMBER, AND_NUMBER, SHIFT_RIGHT, JUMP_UNEQUAL, JUMP_UNEQUAL_REGISTER, EXIT = 0x61, 0xBF, 0xB7, 0x57, 0x77, 0x55, 0x5D, 0x95

_libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    """The bare system call; raises OSError."""
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    result = _libc.syscall(SYSCALL_BPF, command, buffer, len(attributes))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}: {os.strerror(ctypes.get_errno())}")
    return result, buffer.raw


def instruction(code, to=0, source=0, offset=0, number=0):
    return INSTRUCTION.pack(code, to | source << 4, offset, number)


def allow(rule):
    """Return 1 if the request fits this rule, else fall through. r2 type, r3 access, r4 major, r5 minor."""
    tests = []
    if rule.get("type", "a") in TYPES:
        tests.append([instruction(JUMP_UNEQUAL, 2, number=TYPES[rule["type"]])])
    access = sum(ACCESS[letter] for letter in rule.get("access") or "rwm")
    if access != ALL:
        tests.append([instruction(MOVE, 1, 3), instruction(AND_NUMBER, 1, number=access), instruction(JUMP_UNEQUAL_REGISTER, 1, 3)])
    for register, key in ((4, "major"), (5, "minor")):
        if rule.get(key, -1) not in (-1, None):
            tests.append([instruction(JUMP_UNEQUAL, register, number=rule[key])])
    body = [step for test in tests for step in test] + [instruction(MOVE_NUMBER, 0, number=1), instruction(EXIT)]
    jumps = (JUMP_UNEQUAL, JUMP_UNEQUAL_REGISTER)
    ends = len(body) - 1
    # A test that fails jumps behind this rule.
    return [step[:2] + struct.pack("<h", ends - index) + step[4:] if step[0] in jumps else step for index, step in enumerate(body)]


def program(rules):
    """A device program: the first rule that fits allows, nothing else does."""
    head = [
        instruction(LOAD_WORD, 3, 1, 0),  # access << 16 | type
        instruction(MOVE, 2, 3),
        instruction(AND_NUMBER, 2, number=0xFFFF),
        instruction(SHIFT_RIGHT, 3, number=16),
        instruction(LOAD_WORD, 4, 1, 4),
        instruction(LOAD_WORD, 5, 1, 8),
    ]
    body = [step for rule in rules if rule["allow"] for step in allow(rule)]
    return b"".join([*head, *body, instruction(MOVE_NUMBER, 0, number=0), instruction(EXIT)])


def load(code):
    """Load a program; its file descriptor."""
    instructions = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack("<IIQQ", TYPE_CGROUP_DEVICE, len(code) // 8, ctypes.addressof(instructions), ctypes.addressof(licence))
    return bpf(PROG_LOAD, attributes.ljust(128, b"\0"))[0]


def attached(cgroup):
    """Ids of the device programs on a cgroup."""
    ids = (ctypes.c_uint32 * 64)()
    _, answer = bpf(PROG_QUERY, struct.pack("<IIIIQI", cgroup, ATTACH_CGROUP_DEVICE, 0, 0, ctypes.addressof(ids), len(ids)).ljust(64, b"\0"))
    return list(ids[: struct.unpack_from("<I", answer, 24)[0]])


def replace_program(path, rules):
    """Put a program with these rules onto a cgroup in place of those that are there."""
    cgroup = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        old = [bpf(PROG_GET_FD_BY_ID, struct.pack("<I", one).ljust(16, b"\0"))[0] for one in attached(cgroup)]
        bpf(PROG_ATTACH, struct.pack("<IIII", cgroup, load(program(rules)), ATTACH_CGROUP_DEVICE, ALLOW_MULTI))
        for one in old:
            bpf(PROG_DETACH, struct.pack("<III", cgroup, one, ATTACH_CGROUP_DEVICE))
    finally:
        os.close(cgroup)


def cgroup_of(pid):
    """The v2 cgroup of a process."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as lines:
        path = next(line.strip().split(":", 2)[2] for line in lines if line.startswith("0::"))
    return f"/sys/fs/cgroup{path}"
