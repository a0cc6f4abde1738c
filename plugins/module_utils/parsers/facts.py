# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Facts: what a bundle says, in the field's terms. Each is parsed when it is first asked for; None means not known.

A stated value takes the place of the parsed fact of the same name, so the names of facts are the table of stated names, and a rule never
knows which of the two it was.
"""

from __future__ import annotations

from typing import Any, Callable, Generic, Mapping, TypeVar, overload

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import Bundle

T = TypeVar("T")


class fact(Generic[T]):  # noqa: N801 - used like `property`
    """A lazily parsed attribute. Text that no parser understands is not known, never an error: tools change their wording."""

    def __init__(self, parse: Callable[[Any], T]) -> None:
        self.parse = parse
        self.name = parse.__name__
        self.__doc__ = parse.__doc__

    @overload
    def __get__(self, facts: None, owner: type) -> fact[T]: ...
    @overload
    def __get__(self, facts: Facts, owner: type) -> T | None: ...
    def __get__(self, facts: Facts | None, owner: type) -> fact[T] | T | None:
        if facts is None:
            return self
        value = facts.bundle.stated[self.name] if self.name in facts.bundle.stated else self._parsed(facts)
        facts.__dict__[self.name] = value
        return value

    def _parsed(self, facts: Facts) -> T | None:
        try:
            return self.parse(facts)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return None


class Facts:
    """The facts of one bundle. `bundle` gives the raw text where a rule quotes it; `runs` are the GPU container runs, as evidence has them."""

    def __init__(self, evidence: Mapping[str, Any]) -> None:
        self.bundle = Bundle(evidence)
        self.runs = self.bundle.runs
