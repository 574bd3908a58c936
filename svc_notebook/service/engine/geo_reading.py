"""What a search says about places: its parameters read, with refusals that name the spot.

A box counts before a polygon, and either before a centre. `aroundLatLngViaIP` is accepted and
changes nothing: who calls over the loopback is at no place.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.geo import FARTHEST_EAST, FARTHEST_NORTH, Point, is_degrees
from svc_notebook.service.engine.geo_areas import Box, Polygon

FINEST = 10
"""Distances are never told apart more finely than this, in metres."""
BOX, FEWEST, MOST = 4, 6, 20_000
"""Numbers in a box, and in a polygon at least and at most."""
MAX_AREAS = 1_000
"""Boxes or polygons of one search."""
MAX_AREA_POINTS = 200_000
"""Points of all boxes or polygons of one search together."""
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)
AXES = (("latitude", FARTHEST_NORTH), ("longitude", FARTHEST_EAST))


@dataclass(frozen=True)
class Centre:
    """A place to search around: how far, and how finely distances count.

    Without a `radius` it follows from the density, with `least` its floor. `steps` are distances
    in ascending order, each with the precision from there on.
    """

    point: Point
    text: str
    radius: float | None
    least: float
    steps: Sequence[tuple[int, int]]


Areas = Sequence[Box | Polygon]


def read_where(params: Mapping[str, Any]) -> Areas | Centre | None:
    """Return where a search looks, None for everywhere."""
    for name, read in AREAS.items():
        if given := _number_lists(name, params.get(name)):
            _check_sizes(name, len(given), sum(len(numbers) for numbers, _ in given))
            return [read(*numbers) for numbers in given]
    text = params.get("aroundLatLng")
    return _read_centre(text.strip(), params) if text else None


def _check_sizes(name: str, areas: int, numbers: int) -> None:
    if areas > MAX_AREAS:
        _refuse(name, f"expected at most {MAX_AREAS:,} areas, found {areas:,}; split the search")
    if numbers > 2 * MAX_AREA_POINTS:
        _refuse(
            name,
            f"expected at most {MAX_AREA_POINTS:,} points in all areas together, found "
            f"{numbers // 2:,}; simplify them or split the search",
        )


def _read_centre(text: str, params: Mapping[str, Any]) -> Centre:
    name, radius = "aroundLatLng", params.get("aroundRadius")
    numbers = _split_numbers(name, text)
    if len(numbers) != len(AXES):
        _refuse(name, f'expected "latitude,longitude", found "{text}"')
    return Centre(
        _read_points(numbers, name)[0],
        text,
        math.inf if radius == "all" else radius,
        params.get("minimumAroundRadius") or 1,
        _read_steps(params.get("aroundPrecision")),
    )


def _read_steps(given: Any) -> Sequence[tuple[int, int]]:
    """Return where each precision begins; the first begins at no distance at all."""
    if not isinstance(given, list):
        return [(0, max(given or FINEST, FINEST))]
    steps = {max(step["from"], 0): max(step["value"], FINEST) for step in given}
    return sorted(({0: FINEST} | steps).items())


def _read_box(numbers: Sequence[Any], where: str) -> Box:
    if len(numbers) != BOX:
        _refuse(where, f"expected the 4 numbers of two corners, found {len(numbers)}")
    return Box(*_read_points(numbers, where))


def _read_polygon(numbers: Sequence[Any], where: str) -> Polygon:
    if not FEWEST <= len(numbers) <= MOST or len(numbers) % 2:
        _refuse(where, f"expected 3 to 10,000 points, 2 numbers each, found {len(numbers)} numbers")
    return Polygon(_read_corners(numbers, where))


AREAS: Mapping[str, Callable[[Sequence[Any], str], Box | Polygon]] = {
    "insideBoundingBox": _read_box,
    "insidePolygon": _read_polygon,
}


def _read_points(numbers: Sequence[Any], where: str) -> list[Point]:
    for place, number in enumerate(numbers):
        axis, most = AXES[place % 2]
        if not is_degrees(number, most):
            told = f"{number:g}" if isinstance(number, float) else json.dumps(number)
            _refuse(where, f"{axis} {told} is not from -{most} to {most} (number {place + 1})")
    return [Point(*map(float, numbers[at : at + 2])) for at in range(0, len(numbers), 2)]


def _read_corners(numbers: Sequence[Any], where: str) -> Sequence[Point] | Array:
    """Read many points at once; one by one, and so with the place, where any of them is wrong."""
    if set(map(type, numbers)) <= {int, float}:
        with suppress(OverflowError):
            corners = np.array(numbers, np.float64).reshape(-1, 2)
            if (np.abs(corners) <= [most for _, most in AXES]).all():
                return corners
    return _read_points(numbers, where)


def _number_lists(name: str, given: Any) -> list[tuple[Sequence[Any], str]]:
    """Return the numbers of each area, and where they stand."""
    value = _open_text(name, given) if isinstance(given, str) else given or []
    if value and not any(isinstance(one, list) for one in value):
        size = BOX if name == "insideBoundingBox" else len(value)
        value = [value[at : at + size] for at in range(0, len(value), size)]
    found: list[tuple[Sequence[Any], str]] = []
    for place, one in enumerate(value):
        where = f"{name}[{place}]"
        if not isinstance(one, list):
            _refuse(where, "expected a list of numbers")
        found.append((one, where))
    return found


def _open_text(name: str, text: str) -> list[Any]:
    """Read JSON, or numbers with commas between them."""
    _check_sizes(name, 0, text.count(","))
    if not text.lstrip().startswith("["):
        return _split_numbers(name, text) if text.strip() else []
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: expected numbers or lists of them: {error}") from error


def _split_numbers(name: str, text: str) -> list[float]:
    pieces = text.split(",")
    for place, piece in enumerate(pieces):
        if not NUMBER.fullmatch(piece):
            _refuse(name, f'expected a number, found "{piece.strip()}" (number {place + 1})')
    return [float(piece) for piece in pieces]


def _refuse(where: str, problem: str) -> NoReturn:
    raise BadInput(f"{where}: {problem}")
