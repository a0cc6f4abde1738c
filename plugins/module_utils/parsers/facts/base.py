# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What all facts share: how one is parsed, and the words that tools said to a person."""

from __future__ import annotations

import re
from typing import Any, Callable, Generic, Iterable, Mapping, NamedTuple, TypeVar, overload

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import Bundle, folded

T = TypeVar("T")

# Probes whose text is what a tool said to a person, in its own words; what containers said stands in the runs.
SPOKEN = (
    "nvidia_smi",
    "nvidia_smi_list",
    "nvidia_smi_query",
    "nvidia_smi_q",
    "cuda_probe",
    "nvidia_container_cli_log",
    "cdi_generate_log",
    "pod_events",
    "pod_log",
    "device_plugin_log",
    "kubelet_log",
    "app_log",
)


# What a parser may raise on a text that is not its tool's.
NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


class Message(NamedTuple):
    """Something that a tool said; `source` is a probe's name, or `run N` for the N-th run, counted from 1."""

    source: str
    text: str


def first_with(pattern: str, messages: Iterable[Message]) -> tuple[Message, re.Match[str]] | None:
    """The first message that has the pattern, and where; case does not matter."""
    for message in messages:
        if match := needles.search(pattern, message.text):
            return message, match
    return None


class fact(Generic[T]):  # noqa: N801 - used like `property`
    """A lazily parsed attribute. Text that no parser understands is not known, never an error: tools change their wording."""

    def __init__(self, parse: Callable[[Any], T]) -> None:
        self.parse = parse
        self.name = parse.__name__
        self.__doc__ = parse.__doc__

    @overload
    def __get__(self, facts: None, owner: type) -> fact[T]: ...
    @overload
    def __get__(self, facts: Base, owner: type) -> T | None: ...
    def __get__(self, facts: Base | None, owner: type) -> fact[T] | T | None:
        if facts is None:
            return self
        value = facts.bundle.stated[self.name] if self.name in facts.bundle.stated else self._parsed(facts)
        facts.__dict__[self.name] = value
        return value

    def _parsed(self, facts: Base) -> T | None:
        try:
            return self.parse(facts)
        except NOT_UNDERSTOOD:
            return None


class Base:
    """The facts of one bundle, which gives the raw text where a rule quotes it."""

    def __init__(self, evidence: Mapping[str, Any] | Bundle) -> None:
        self.bundle = evidence if isinstance(evidence, Bundle) else Bundle(evidence)

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """The GPU container runs, as the evidence has them."""
        return self.bundle.runs

    @fact
    def messages(self) -> tuple[Message, ...]:
        """What the tools said, on the host first, then in each container; nvidia-smi's long log is data and not said to anybody."""
        spoken = [Message(name, folded(text)) for name in SPOKEN if (text := self.bundle.output(name)) and "NVSMI LOG==" not in text]
        for number, run in enumerate(self.runs, start=1):
            parts = [str(run[key]) for key in ("error", "stdout", "stderr") if run.get(key)]
            spoken += [Message(f"run {number}", folded("\n".join(parts)))] if parts else []
        return tuple(spoken)

    @fact
    def spoken(self) -> str:
        """All messages in lower case."""
        return "\n".join(message.text for message in self.known(self.messages)).lower()

    def said(self, pattern: str, sources: Callable[[str], bool] = lambda source: True) -> tuple[Message, re.Match[str]] | None:
        """The first message of the chosen sources that has the pattern, and where; case does not matter."""
        if not needles.may_match(needles.prepare(pattern), self.spoken or ""):
            return None
        return first_with(pattern, (message for message in self.messages or () if sources(message.source)))

    def need(self, name: str) -> str:
        """A probe's text; raises where there is none, which makes the fact that asks for it unknown."""
        return self.known(self.bundle.text(name))

    @staticmethod
    def known(value: T | None) -> T:
        """The value; raises where it is not known."""
        if value is None:
            raise ValueError("not known")
        return value
