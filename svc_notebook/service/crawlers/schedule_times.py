"""Compute when a crawler's schedules start the next crawl, and of which actions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from svc_notebook.errors import BadInput
from svc_notebook.service.crawlers.crawler import Config
from svc_notebook.service.crawlers.preconditions import read_config

if TYPE_CHECKING:
    from svc_notebook.service.crawl.schedule import Schedule


def next_due(config: Config, now: float) -> float | None:
    """Return the next time of the schedules of the crawler and its actions, in Unix seconds."""
    if not config.get("schedule") and not any(
        action_or_schedule.get("schedule") for action_or_schedule in config["actions"]
    ):
        return None
    parsed = read_config(config)
    times = (
        _after(action_or_schedule, now)
        for action_or_schedule in (parsed.schedule, *(a.schedule for a in parsed.actions))
    )
    return min((time for time in times if time is not None), default=None)


def part_due(config: Config, due: float) -> Config | None:
    """Return the configuration with only the actions that are due; None for all actions.

    Actions that share an index are crawled together, because a crawl replaces whole indices.
    """
    try:
        parsed = read_config(config)
    except BadInput:
        return None
    if _is_due(parsed.schedule, due):
        return None
    indices = {action.index for action in parsed.actions if _is_due(action.schedule, due)}
    pairs = zip(config["actions"], parsed.actions, strict=True)
    actions = [raw for raw, action in pairs if action.index in indices]
    return {**config, "actions": actions} if actions else None


def _is_due(schedule: Schedule | None, due: float) -> bool:
    return _after(schedule, due - 1) == due


def _after(schedule: Schedule | None, now: float) -> float | None:
    moment = schedule.after(datetime.fromtimestamp(now, UTC)) if schedule else None
    return moment.timestamp() if moment else None
