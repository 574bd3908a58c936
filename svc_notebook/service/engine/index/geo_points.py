"""Geo points: the `_geoloc` values of records as columns, and distances between points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.columns import Numbers
from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import GEOLOC

# The earth's mean radius in metres.
EARTH_RADIUS_METERS = 6_371_008.8
COORDINATE_DECIMALS = 4
LATITUDE, LONGITUDE = f"{GEOLOC}.lat", f"{GEOLOC}.lng"
FARTHEST_NORTH, FARTHEST_EAST = 90, 180


class Point(NamedTuple):
    """A geo point in degrees."""

    lat: float
    lng: float


def read_places(records: Sequence[Record]) -> dict[str, Numbers]:
    """Return the latitude and longitude columns; values that are not valid points are skipped.

    Entry n of both columns belongs to the same point.
    """
    points = [
        (row, *point)
        for row, record in enumerate(records)
        if GEOLOC in record
        for point in _places_in(record[GEOLOC])
    ]
    if not points:
        return {}
    rows, lats, lngs = zip(*points, strict=True)
    numbers = np.array(rows, np.int32)
    return {LATITUDE: Numbers(numbers, np.array(lats)), LONGITUDE: Numbers(numbers, np.array(lngs))}


def _places_in(value: Any) -> Iterator[Point]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, Mapping):
            lat, lng = item.get("lat"), item.get("lng")
            if is_degrees(lat, FARTHEST_NORTH) and is_degrees(lng, FARTHEST_EAST):
                yield Point(
                    round(float(lat), COORDINATE_DECIMALS), round(float(lng), COORDINATE_DECIMALS)
                )


def is_degrees(value: Any, most: float) -> TypeGuard[float]:
    """Return whether a value is a number between `-most` and `most`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -most <= value <= most


@dataclass(frozen=True, eq=False)
class GeoPoints:
    """The geo points of some records; a row has none, one or several consecutive entries."""

    rows: Array
    lats: Array
    lngs: Array

    @classmethod
    def of(cls, numbers: Mapping[str, Numbers]) -> GeoPoints:
        """Build them from the columns of `read_places`."""
        lats, lngs = numbers.get(LATITUDE), numbers.get(LONGITUDE)
        if lats is None or lngs is None:
            return cls(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))
        return cls(lats.rows, lats.values, lngs.values)

    def nearest(self, centre: Point, records: int) -> Array:
        """Return each row's haversine to its nearest point, infinite without points."""
        distances = self._haversines(centre, slice(None))
        if len(self._starts) < len(self.rows):
            distances = np.minimum.reduceat(distances, self._starts)
        if len(distances) == records:
            return distances
        nearest_distances = np.full(records, np.inf)
        nearest_distances[self.rows[self._starts]] = distances
        return nearest_distances

    def nearest_of(self, row: int, centre: Point) -> Point:
        """Return the point of a row that is nearest to the centre; the row must have one."""
        span = slice(*np.searchsorted(self.rows, [row, row + 1]).tolist())
        at = span.start + int(np.argmin(self._haversines(centre, span)))
        return Point(float(self.lats[at]), float(self.lngs[at]))

    def between(self, south: float, north: float) -> GeoPoints:
        """Return the points between two latitudes, ordered by latitude instead of row."""
        sorted_ = self._by_latitude
        start = np.searchsorted(sorted_.lats, south)
        span = slice(start, np.searchsorted(sorted_.lats, north, "right"))
        return GeoPoints(sorted_.rows[span], sorted_.lats[span], sorted_.lngs[span])

    def _haversines(self, centre: Point, span: slice) -> Array:
        """Return the haversine of each point to the centre.

        It is the square of half the chord between two points of the unit sphere.
        """
        total = np.zeros(len(self.rows[span]))
        for axis, at in zip(self._axes, _read_axes(*np.array(centre)), strict=True):
            apart = axis[span] - at
            apart *= apart
            total += apart
        total *= 0.25
        return total

    @cached_property
    def _starts(self) -> Array:
        return np.flatnonzero(np.diff(self.rows, prepend=-1))

    @cached_property
    def _axes(self) -> Sequence[Array]:
        return _read_axes(self.lats, self.lngs)

    @cached_property
    def _by_latitude(self) -> GeoPoints:
        order = np.argsort(self.lats)
        return GeoPoints(self.rows[order], self.lats[order], self.lngs[order])


def _read_axes(lats: Array, lngs: Array) -> Sequence[Array]:
    """Return the coordinates of points on the unit sphere."""
    lat, lng = np.radians(lats), np.radians(lngs)
    outwards = np.cos(lat)
    return outwards * np.cos(lng), outwards * np.sin(lng), np.sin(lat)


def to_metres(haversines: Array) -> Array:
    """Convert haversines to distances on the ground in metres."""
    metres: Array = np.minimum(haversines, 1)
    np.arcsin(np.sqrt(metres, out=metres), out=metres)
    metres *= 2 * EARTH_RADIUS_METERS
    return metres


def to_haversine(metres: float) -> float:
    """Convert a distance in metres to a haversine; infinite from half the circumference on."""
    angle = min(metres, 4 * EARTH_RADIUS_METERS) / (2 * EARTH_RADIUS_METERS)
    return math.sin(angle) ** 2 if angle < math.pi / 2 else math.inf
