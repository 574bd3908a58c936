"""Intervals and p-values of results as text."""

from __future__ import annotations

import math

from svc_notebook.core.display import NO_VALUE, format_difference


def span(low: float, high: float) -> str:
    """Format an interval, if there is one."""
    return "" if math.isnan(low) else f"[{format_difference(low)}, {format_difference(high)}]"


def p_value(p: float) -> str:
    """Format a p-value."""
    if math.isnan(p):
        return NO_VALUE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
