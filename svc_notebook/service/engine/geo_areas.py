"""Areas in degrees: boxes and polygons, and which places lie in them; their edges belong to them.

A box is two opposite corners, whichever. Corners more than 180 degrees of longitude apart are
read from west to east: from 170 to -170 is the 20 degrees across the antimeridian, from -170 to
170 the 340 others. The edges of a polygon are straight where degrees are drawn as a plane, and
none crosses the antimeridian: such a polygon is to be given as two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from svc_notebook.service.engine.arrays import Array, spread
from svc_notebook.service.engine.deadline import check_time
from svc_notebook.service.engine.geo import FARTHEST_EAST, Places, Point

AROUND = 2 * FARTHEST_EAST
PAIRS_AT_ONCE = 250_000
"""Pairs of an edge and a place that are held at one time: about 20 MB."""


@dataclass(frozen=True)
class Box:
    """All between two latitudes and two longitudes."""

    corner: Point
    opposite: Point

    def find_rows(self, places: Places) -> Array:
        """Return the rows of the places inside."""
        check_time()
        south, north = sorted((self.corner.lat, self.opposite.lat))
        within: Array = (places.lats >= south) & (places.lats <= north)
        within &= self._holds_longitudes(places.lngs)
        return places.rows[within]

    def _holds_longitudes(self, lngs: Array) -> Array:
        one, other = self.corner.lng, self.opposite.lng
        if FARTHEST_EAST < one - other < AROUND:
            return np.asarray((lngs >= one) | (lngs <= other))
        return np.asarray((lngs >= min(one, other)) & (lngs <= max(one, other)))


@dataclass(frozen=True, eq=False)
class Polygon:
    """All inside a closed line; where it crosses itself, what it goes round an odd number of times.

    Each edge looks only at the places between its two latitudes, so that thousands of edges stay
    cheap. `corners` are a latitude and a longitude each.
    """

    corners: Sequence[Point] | Array

    def find_rows(self, places: Places) -> Array:
        """Return the rows of the places inside."""
        check_time()
        corners = np.asarray(self.corners)
        (south, west), (north, east) = corners.min(axis=0), corners.max(axis=0)
        strip = places.between(south, north)
        near = (strip.lngs >= west) & (strip.lngs <= east)
        inside = _find_inside(corners, strip.lats[near], strip.lngs[near])
        return np.asarray(strip.rows[near][inside])


def _find_inside(corners: Array, lats: Array, lngs: Array) -> Array:
    """Count the edges that a ray to the east meets, for places in the order of latitudes."""
    ends = np.roll(corners, -1, axis=0)
    rising = (corners[:, 0] <= ends[:, 0])[:, None]
    edges = np.hstack([np.where(rising, corners, ends), np.where(rising, ends, corners)]).T.copy()
    starts = np.searchsorted(lats, edges[0])
    stops = np.searchsorted(lats, edges[2], "right")
    counts = np.maximum(stops - starts, 0)
    crossings, on = np.zeros(len(lats), np.int64), np.zeros(len(lats), bool)
    for chosen in _cut_edges(counts):
        check_time()
        place = spread(starts[chosen], counts[chosen])
        south, from_lng, north, to_lng = np.repeat(edges[:, chosen], counts[chosen], axis=1)
        lat, lng = lats[place], lngs[place]
        # Above zero west of the edge, below zero east of it, zero on its line.
        side = (lat - south) * (to_lng - from_lng) - (lng - from_lng) * (north - south)
        crossings += np.bincount(place[(side > 0) & (lat < north)], minlength=len(lats))
        west, east = np.minimum(from_lng, to_lng), np.maximum(from_lng, to_lng)
        on[place[(side == 0) & (lng >= west) & (lng <= east)]] = True
    inside: Array = (crossings % 2 == 1) | on
    return inside


def _cut_edges(counts: Array) -> Iterator[Array]:
    """Return the edges that look at any place, in portions of so many pairs as fit."""
    edges = np.flatnonzero(counts)
    ends = np.cumsum(counts[edges])
    start = 0
    while start < len(edges):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, "right")))
        yield edges[start:stop]
        start = stop
