"""Numbers as text."""

from __future__ import annotations

import math


def figure(value: float) -> str:
    """Return a number with three digits; whole numbers below a million with all digits.

    Examples
    --------
    >>> figure(1000), figure(55_742_968), figure(1.75e8), figure(0.00694), figure(4.4213), figure(0)
    ('1,000', '5.57e7', '1.75e8', '0.00694', '4.42', '0')
    """
    if math.isfinite(value) and value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    if not math.isfinite(value) or 1e-3 <= abs(value) < 1e3:
        return f"{value:.3g}"
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    mantissa, power = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(power)}"


def duration(seconds: float) -> str:
    """Return a time in a suitable unit.

    Examples
    --------
    >>> duration(0.0123), duration(12.3), duration(125), duration(7300)
    ('12.3 ms', '12 s', '2 min 5 s', '2 h 1 min')
    """
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
