"""Sums over what is read off runs: ``sas.iops / u320.iops``, ``8 * sas.rate["shelf-phy"]``, ``sqrt(15504.0 * 9157.2)``.

Model: numbers, ``+ - * / **``, parentheses, ``sqrt log min max``, and read-offs of a run that has a name:

    RUN.iops, RUN.bytes_per_s             rate of all operations; RUN.read_iops, RUN.write_bytes_per_s … of one
    RUN.mean, RUN.p50, RUN.p95, RUN.p99   latency in nanoseconds; RUN.read_mean, RUN.write_p99 … of one operation
    RUN.beyond.READ_OFF                    one of those at the first level at which a ramp did not hold
    RUN.rebuild_s                         seconds that the rebuilds of failed drives took, on average
    RUN.use["COMPONENT"]                  how busy a component of the array was, 0 to 1
    RUN.rate["LINK"]                      bytes per second of a link, as the array's document says; nothing is run
    RUN.size_bytes                        how large the target is; nothing is run

Whoever evaluates gives a function from read-offs to numbers. Limits: no comparison, no condition; those are the business of claims.

    ratio = parsed("sas.iops / u320.iops")
    ratio.read_offs                        # (ReadOff('sas', 'iops'), ReadOff('u320', 'iops'))
    ratio.value(lambda read_off: measured[read_off])
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from plimsoll.errors import InputError

_RATES = ("iops", "bytes_per_s")
_TIMES = ("mean", "p50", "p95", "p99")
#: What is read off what a run measured.
MEASURED = tuple(f"{operation}{metric}" for operation in ("", "read_", "write_") for metric in (*_RATES, *_TIMES))
#: What is read off what happened to the array meanwhile.
HAPPENED = ("rebuild_s",)
#: What is read off a part of the array that is named, and what of the array itself.
NAMED = ("use", "rate")
UNRUN = ("rate", "size_bytes")
_FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "log": math.log, "min": min, "max": max}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class ReadOff:
    """One number of one run: ``what`` of ``of`` (a component or link), or of the run as a whole."""

    run: str
    what: str
    of: str | None = None
    beyond: bool = False

    @property
    def needs_a_run(self) -> bool:
        """Whether it is measured rather than found in the array's document."""
        return self.what not in UNRUN


@dataclass(frozen=True)
class Expression:
    """A sum as it is written, and as it is worked out."""

    text: str
    root: ast.expr

    @property
    def read_offs(self) -> tuple[ReadOff, ...]:
        """What has to be known, each once, in the order of the text."""
        return tuple(dict.fromkeys(_read_offs(self.root, self.text)))

    def value(self, look_up: Callable[[ReadOff], float]) -> float:
        """The number, once every read-off is one."""
        return _value(self.root, self.text, look_up)


def parsed(text: str) -> Expression:
    """The expression that a text is; `InputError` if it is none."""
    try:
        root = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise InputError(f"`{text}` is no expression; write for example `sas.iops / u320.iops`.") from None
    found = Expression(text, root)
    _value_checked(root, text)
    return found


def _value_checked(root: ast.expr, text: str) -> None:
    """Walks the whole expression once with a stand-in for every read-off, so that what cannot be worked out is refused at once."""
    try:
        _value(root, text, lambda _: 2.0)
    except (ZeroDivisionError, ValueError, OverflowError):
        # With these stand-ins only; real read-offs differ.
        return


def _read_offs(node: ast.expr, text: str) -> Iterator[ReadOff]:
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        yield _read_off(node, text)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _read_offs(child, text)


def _value(node: ast.expr, text: str, look_up: Callable[[ReadOff], float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, text, look_up)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_value(left, text, look_up), _value(right, text, look_up))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return float(_FUNCTIONS[name](*(_value(argument, text, look_up) for argument in arguments)))
        case ast.Attribute() | ast.Subscript():
            return look_up(_read_off(node, text))
    raise InputError(f"`{ast.unparse(node)}` in `{text}` is neither a number, a read-off of a run, nor a sum of such.")


def _read_off(node: ast.expr, text: str) -> ReadOff:
    match node:
        case ast.Attribute(value=ast.Name(id=run), attr=what) if what in (*MEASURED, *HAPPENED, "size_bytes"):
            return ReadOff(run, what)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=run), attr="beyond"), attr=what) if what in MEASURED:
            return ReadOff(run, what, beyond=True)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=run), attr=what), slice=ast.Constant(value=str() as of)) if what in NAMED:
            return ReadOff(run, what, of)
    raise InputError(
        f"`{ast.unparse(node)}` in `{text}` is no read-off; write RUN.{'|'.join((*_RATES, *_TIMES))} with read_ or write_ before it, "
        'RUN.beyond.READ_OFF, RUN.rebuild_s, RUN.size_bytes, RUN.use["COMPONENT"] or RUN.rate["LINK"].'
    )
