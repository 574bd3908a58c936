"""Every function of tuning that talks to the service, as a coroutine function."""

from __future__ import annotations

__all__: list[str] = []
