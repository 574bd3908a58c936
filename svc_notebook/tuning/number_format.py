"""Numbers of results as text: scores, differences, intervals and p-values."""

from __future__ import annotations

import math

NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def number(value: float, digits: int = 3) -> str:
    """Format a number; a dash for a missing one."""
    return NONE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """Format a difference with its sign."""
    return NONE if math.isnan(value) else f"{value:+.{digits}f}".replace("-", MINUS)


def span(low: float, high: float) -> str:
    """Format an interval, if there is one."""
    return "" if math.isnan(low) else f"[{signed(low)}, {signed(high)}]"


def p_value(p: float) -> str:
    """Format a p-value."""
    if math.isnan(p):
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
