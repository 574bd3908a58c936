"""Geo search: its parameters, the rows within the area, their distances and their ranking info.

A bounding box takes precedence over a polygon, and both over a centre. `aroundLatLngViaIP` is
accepted and ignored: a loopback address has no location. Errors name the invalid value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.arrays import Array, concatenate_ranges
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.index.geo_points import (
    FARTHEST_EAST,
    FARTHEST_NORTH,
    GeoPoints,
    Point,
    is_degrees,
    to_haversine,
    to_metres,
)
from svc_notebook.service.engine.index.segment import Segment, SegmentReader

FULL_CIRCLE_DEGREES = 2 * FARTHEST_EAST
# An automatic radius includes this many nearest records, regardless of the query and filters.
AUTO_RADIUS_RECORDS = 1000
# Pairs of an edge and a point processed at one time: about 20 MB.
MAX_PAIRS_PER_STEP = 250_000


@dataclass(frozen=True)
class Box:
    """The area between two latitudes and two longitudes."""

    corner: Point
    opposite: Point

    def find_rows(self, places: GeoPoints) -> Array:
        """Return the rows of the points inside."""
        check_time()
        south, north = sorted((self.corner.lat, self.opposite.lat))
        within: Array = (places.lats >= south) & (places.lats <= north)
        within &= self._contains_longitudes(places.lngs)
        return places.rows[within]

    def _contains_longitudes(self, lngs: Array) -> Array:
        west, other = self.corner.lng, self.opposite.lng
        if FARTHEST_EAST < west - other < FULL_CIRCLE_DEGREES:
            return np.asarray((lngs >= west) | (lngs <= other))
        return np.asarray((lngs >= min(west, other)) & (lngs <= max(west, other)))


@dataclass(frozen=True, eq=False)
class Polygon:
    """The area inside a closed line, by the even-odd rule where the line crosses itself.

    Each edge is compared only with the points between its two latitudes, so that thousands of edges
    are fast. `corners` are pairs of latitude and longitude.
    """

    corners: Sequence[Point] | Array

    def find_rows(self, places: GeoPoints) -> Array:
        """Return the rows of the points inside."""
        check_time()
        corners = np.asarray(self.corners)
        (south, west), (north, east) = corners.min(axis=0), corners.max(axis=0)
        strip = places.between(south, north)
        near = (strip.lngs >= west) & (strip.lngs <= east)
        inside = _find_inside(corners, strip.lats[near], strip.lngs[near])
        return np.asarray(strip.rows[near][inside])


def _find_inside(corners: Array, lats: Array, lngs: Array) -> Array:
    """Count the edges that a ray to the east crosses, for points ordered by latitude."""
    ends = np.roll(corners, -1, axis=0)
    rising = (corners[:, 0] <= ends[:, 0])[:, None]
    edges = np.hstack([np.where(rising, corners, ends), np.where(rising, ends, corners)]).T.copy()
    starts = np.searchsorted(lats, edges[0])
    stops = np.searchsorted(lats, edges[2], "right")
    counts = np.maximum(stops - starts, 0)
    crossings, on_edge = np.zeros(len(lats), np.int64), np.zeros(len(lats), bool)
    for chosen in _cut_edges(counts):
        check_time()
        edges_near = concatenate_ranges(starts[chosen], counts[chosen])
        south, from_lng, north, to_lng = np.repeat(edges[:, chosen], counts[chosen], axis=1)
        lat, lng = lats[edges_near], lngs[edges_near]
        # Positive west of the edge, negative east of it, zero on its line.
        side = (lat - south) * (to_lng - from_lng) - (lng - from_lng) * (north - south)
        crossings += np.bincount(edges_near[(side > 0) & (lat < north)], minlength=len(lats))
        west, east = np.minimum(from_lng, to_lng), np.maximum(from_lng, to_lng)
        on_edge[edges_near[(side == 0) & (lng >= west) & (lng <= east)]] = True
    inside: Array = (crossings % 2 == 1) | on_edge
    return inside


def _cut_edges(counts: Array) -> Iterator[Array]:
    """Return the edges with points to compare, at most `MAX_PAIRS_PER_STEP` pairs per portion."""
    edges = np.flatnonzero(counts)
    ends = np.cumsum(counts[edges])
    start = 0
    while start < len(edges):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + MAX_PAIRS_PER_STEP, "right")))
        yield edges[start:stop]
        start = stop


# The finest precision of distances, in metres.
MIN_PRECISION_METERS = 10
# The numbers in a box, and the minimum and maximum numbers in a polygon.
BOX_NUMBERS, MIN_POLYGON_NUMBERS, MAX_POLYGON_NUMBERS = 4, 6, 20_000
# Maximum boxes or polygons of one search.
MAX_AREAS = 1_000
# Maximum points of all boxes or polygons of one search together.
MAX_AREA_POINTS = 200_000
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)
AXES = (("latitude", FARTHEST_NORTH), ("longitude", FARTHEST_EAST))


@dataclass(frozen=True)
class Centre:
    """The centre of a geo search, with its radius and precision in metres.

    Without a `radius`, the radius is computed from the density of records, with `min_radius` as its
    minimum. `steps` are distances in ascending order, each with the precision from there on.
    """

    point: Point
    text: str
    radius: float | None
    min_radius: float
    steps: Sequence[tuple[int, int]]


Areas = Sequence[Box | Polygon]


def read_geo_parameters(params: Mapping[str, Any]) -> Areas | Centre | None:
    """Return the area or centre of a search, None for everywhere."""
    for name, read in AREAS.items():
        if (value := params.get(name)) and (given := _number_lists(name, value)):
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
    """Return the distances from which each precision applies; the first is 0."""
    if not isinstance(given, list):
        return [(0, max(given or MIN_PRECISION_METERS, MIN_PRECISION_METERS))]
    steps = {max(step["from"], 0): max(step["value"], MIN_PRECISION_METERS) for step in given}
    return sorted(({0: MIN_PRECISION_METERS} | steps).items())


def _read_box(numbers: Sequence[Any], where: str) -> Box:
    if len(numbers) != BOX_NUMBERS:
        _refuse(where, f"expected the 4 numbers of two corners, found {len(numbers)}")
    return Box(*_read_points(numbers, where))


def _read_polygon(numbers: Sequence[Any], where: str) -> Polygon:
    if not MIN_POLYGON_NUMBERS <= len(numbers) <= MAX_POLYGON_NUMBERS or len(numbers) % 2:
        _refuse(where, f"expected 3 to 10,000 points, 2 numbers each, found {len(numbers)} numbers")
    return Polygon(_read_corners(numbers, where))


AREAS: Mapping[str, Callable[[Sequence[Any], str], Box | Polygon]] = {
    "insideBoundingBox": _read_box,
    "insidePolygon": _read_polygon,
}
# The parameters without which a search is everywhere.
GEO_PARAMETERS = (*AREAS, "aroundLatLng")


def _read_points(numbers: Sequence[Any], where: str) -> list[Point]:
    for position, number in enumerate(numbers):
        axis, most = AXES[position % 2]
        if not is_degrees(number, most):
            written = f"{number:g}" if isinstance(number, float) else json.dumps(number)
            _refuse(
                where, f"{axis} {written} is not from -{most} to {most} (number {position + 1})"
            )
    return [Point(*map(float, numbers[at : at + 2])) for at in range(0, len(numbers), 2)]


def _read_corners(numbers: Sequence[Any], where: str) -> Sequence[Point] | Array:
    """Parse many points at once; if any is invalid, one by one, so that the error names it."""
    if set(map(type, numbers)) <= {int, float}:
        with suppress(OverflowError):
            corners = np.array(numbers, np.float64).reshape(-1, 2)
            if (np.abs(corners) <= [most for _, most in AXES]).all():
                return corners
    return _read_points(numbers, where)


def _number_lists(name: str, given: Any) -> list[tuple[Sequence[Any], str]]:
    """Return the numbers of each area with their path in the parameter."""
    value = _open_text(name, given) if isinstance(given, str) else given
    if value and not any(isinstance(numbers, list) for numbers in value):
        size = BOX_NUMBERS if name == "insideBoundingBox" else len(value)
        value = [value[at : at + size] for at in range(0, len(value), size)]
    lists: list[tuple[Sequence[Any], str]] = []
    for position, numbers in enumerate(value):
        where = f"{name}[{position}]"
        if not isinstance(numbers, list):
            _refuse(where, "expected a list of numbers")
        lists.append((numbers, where))
    return lists


def _open_text(name: str, text: str) -> list[Any]:
    """Parse JSON or comma-separated numbers."""
    _check_sizes(name, 0, text.count(","))
    if not text.lstrip().startswith("["):
        return _split_numbers(name, text) if text.strip() else []
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: expected numbers or lists of them: {error}") from error


def _split_numbers(name: str, text: str) -> list[float]:
    pieces = text.split(",")
    for position, piece in enumerate(pieces):
        if not NUMBER.fullmatch(piece):
            _refuse(name, f'expected a number, found "{piece.strip()}" (number {position + 1})')
    return [float(piece) for piece in pieces]


def _refuse(where: str, problem: str) -> NoReturn:
    raise BadInput(f"{where}: {problem}")


class GeoCondition(Protocol):
    """The geo condition of a search.

    `restricts` tells whether it excludes rows, and `ranks` whether hits rank by their distances.
    """

    restricts: ClassVar[bool]
    ranks: ClassVar[bool]

    @property
    def members(self) -> Mapping[str, str]:
        """The geo members of the response."""

    def rows(self, segment: Segment) -> Array:
        """Return the mask of the rows inside the area."""

    def rank_distances(self, segment: Segment, rows: Array) -> Array:
        """Return the distances that rows rank by, lower first."""

    def explain(self, segment: Segment, rows: Array) -> Sequence[Mapping[str, Any]]:
        """Return the geo members of the ranking info of rows."""


def find_geo_condition(params: Mapping[str, Any], readers: Sequence[SegmentReader]) -> GeoCondition:
    """Read the geo condition of a search on these segments."""
    if params.keys().isdisjoint(GEO_PARAMETERS):
        return EVERYWHERE
    area = read_geo_parameters(params)
    if isinstance(area, Centre):
        return AroundCentre(area, readers)
    return EVERYWHERE if area is None else InsideAreas(area)


class NoGeoCondition:
    """A search without a geo condition."""

    restricts: ClassVar[bool] = False
    ranks: ClassVar[bool] = False
    members: Mapping[str, str] = MappingProxyType({})

    def rows(self, segment: Segment) -> Array:
        """Return the mask of all rows."""
        return np.ones(len(segment), bool)

    def rank_distances(self, segment: Segment, rows: Array) -> Array:
        """Return the same distance for all rows."""
        return np.zeros(len(rows))

    def explain(self, segment: Segment, rows: Array) -> Sequence[Mapping[str, Any]]:
        """Return the same info for all rows."""
        return [{"geoDistance": 0, "geoPrecision": 1}] * len(rows)


EVERYWHERE = NoGeoCondition()


@dataclass(frozen=True)
class InsideAreas(NoGeoCondition):
    """A search inside any of several areas."""

    restricts: ClassVar[bool] = True
    areas: Areas

    def rows(self, segment: Segment) -> Array:
        """Return the mask of rows with a point in one of the areas."""
        inside = np.zeros(len(segment), bool)
        for area in self.areas:
            inside[area.find_rows(segment.places)] = True
        return inside


@dataclass(frozen=True, eq=False)
class AroundCentre:
    """A search around a centre; the nearest point of a record counts."""

    restricts: ClassVar[bool] = True
    ranks: ClassVar[bool] = True
    centre: Centre
    readers: Sequence[SegmentReader]

    def rows(self, segment: Segment) -> Array:
        """Return the mask of the rows within the radius."""
        limit = min(to_haversine(self._radius), np.finfo(np.float64).max)
        return np.asarray(self._haversines(segment) <= limit)

    def rank_distances(self, segment: Segment, rows: Array) -> Array:
        """Return each row's distance in metres, rounded down to the precision."""
        metres = to_metres(self._haversines(segment)[rows])
        starts, precisions = self._precision_steps(metres)
        return np.asarray(np.maximum(np.floor(metres / precisions) * precisions, starts))

    def explain(self, segment: Segment, rows: Array) -> Sequence[Mapping[str, Any]]:
        """Return each row's distance in precision units, the precision and the nearest point.

        A promoted record may have no point.
        """
        haversines = self._haversines(segment)[rows]
        metres = to_metres(haversines)
        _, precisions = self._precision_steps(metres)
        return [
            {
                "geoDistance": int(distance / precision),
                "geoPrecision": int(precision),
                "matchedGeoLocation": {
                    **segment.places.nearest_of(row, self.centre.point)._asdict(),
                    "distance": int(distance),
                },
            }
            if somewhere
            else {"geoDistance": 0, "geoPrecision": int(precision)}
            for row, distance, precision, somewhere in zip(
                rows.tolist(),
                metres.tolist(),
                np.broadcast_to(precisions, metres.shape).tolist(),
                np.isfinite(haversines).tolist(),
                strict=True,
            )
        ]

    @property
    def members(self) -> Mapping[str, str]:
        """The centre, and the radius if it is automatic."""
        members = {"aroundLatLng": self.centre.text}
        if self.centre.radius is None:
            members["automaticRadius"] = str(int(self._radius))
        return members

    def _haversines(self, segment: Segment) -> Array:
        haversines = self._haversine_cache.get(segment)
        if haversines is None:
            haversines = segment.places.nearest(self.centre.point, len(segment))
            self._haversine_cache[segment] = haversines
        return haversines

    def _precision_steps(self, metres: Array) -> tuple[Array, Array]:
        """Return the start of the precision step of each distance, and its precision."""
        starts, precisions = np.array(self.centre.steps, np.float64).T
        if len(starts) == 1:
            return starts, precisions
        step = np.searchsorted(starts, metres, "right") - 1
        return starts[step], precisions[step]

    @cached_property
    def _haversine_cache(self) -> dict[Segment, Array]:
        return {}

    @cached_property
    def _radius(self) -> float:
        if self.centre.radius is not None:
            return self.centre.radius
        near = [self._haversines(reader.segment)[reader.alive] for reader in self.readers]
        distances = np.concatenate(
            [values[np.isfinite(values)] for values in near] or [np.zeros(0)]
        )
        if len(distances) > AUTO_RADIUS_RECORDS:
            distances = np.partition(distances, AUTO_RADIUS_RECORDS - 1)[:AUTO_RADIUS_RECORDS]
        reach = float(to_metres(distances).max()) if len(distances) else 0
        return max(math.ceil(reach), self.centre.min_radius)
