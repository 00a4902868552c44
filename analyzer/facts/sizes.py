"""Amounts of memory as people, kernels and libraries write them, in GiB."""

from __future__ import annotations

import re

from analyzer.expressions import expression

_SIZE = expression(r"\s*([0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)\s*([A-Za-z]*)\s*", re.ASCII)
_BINARY = {"": 0, "b": 0, "byte": 0, "bytes": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def gib(text: str) -> float | None:
    """The amount in GiB that a text like `13GiB`, `13312 MiB`, `12Gi`, `15.75G` or `12582912kB` names; None if none.

    `K`, `M`, `G` and `T` alone and with `i` or `iB` are powers of 1024, as PyTorch, XLA, Slurm and cgroups mean them;
    so is `kB`, as the kernel prints it. `MB`, `GB` and `TB` are powers of 1000. A bare number is bytes.

    >>> gib("12582912kB")
    12.0
    >>> round(gib("13 GB"), 2)
    12.11
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        return None
    amount, unit = float(found[1].replace(",", ".")), found[2].lower()
    if unit in ("mb", "gb", "tb", "pb"):
        return float(amount * 1000 ** _BINARY[unit[0]] / 1024**3)
    power = _BINARY.get(unit.removesuffix("ib") if unit.endswith("ib") else unit.removesuffix("i"))
    if unit == "kb":
        power = 1
    return None if power is None else float(amount * 1024**power / 1024**3)


def show_gib(amount: float | None, lang: str = "en") -> str:
    """An amount for people, without its unit: three digits or so, a decimal comma in German; "" if unknown."""
    if amount is None:
        return ""
    digits = 2 if amount < 10 else 1 if amount < 100 else 0
    text = f"{amount:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(".", ",") if lang == "de" else text
