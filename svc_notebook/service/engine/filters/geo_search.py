"""Geo search: the rows within the searched area, their distances and their ranking info."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.filters.geo_parameters import Areas, Centre, read_geo_parameters
from svc_notebook.service.engine.index.geo_points import to_haversine, to_metres
from svc_notebook.service.engine.index.segment import Segment, SegmentReader

# An automatic radius includes this many nearest records, regardless of the query and filters.
AUTO_RADIUS_RECORDS = 1000


class GeoCondition(Protocol):
    """The geo condition of a search; `ranks` tells whether hits rank by their distances."""

    ranks: ClassVar[bool]

    def rows(self, segment: Segment) -> Array | None:
        """Return the mask of the rows inside the area, None for all."""

    def rank_distances(self, segment: Segment, rows: Array) -> Array:
        """Return the distances that rows rank by, lower first."""

    def explain(self, segment: Segment, rows: Array) -> Sequence[Mapping[str, Any]]:
        """Return the geo members of the ranking info of rows."""

    def members(self) -> Mapping[str, str]:
        """Return the geo members of the response."""


def find_geo_condition(params: Mapping[str, Any], readers: Sequence[SegmentReader]) -> GeoCondition:
    """Read the geo condition of a search on these segments."""
    area = read_geo_parameters(params)
    if isinstance(area, Centre):
        return AroundCentre(area, readers)
    return NoGeoCondition() if area is None else InsideAreas(area)


class NoGeoCondition:
    """A search without a geo condition."""

    ranks: ClassVar[bool] = False

    def rows(self, segment: Segment) -> Array | None:
        """Return None: all rows."""
        return None

    def rank_distances(self, segment: Segment, rows: Array) -> Array:
        """Return the same distance for all rows."""
        return np.zeros(len(rows))

    def explain(self, segment: Segment, rows: Array) -> Sequence[Mapping[str, Any]]:
        """Return the same info for all rows."""
        return [{"geoDistance": 0, "geoPrecision": 1}] * len(rows)

    def members(self) -> Mapping[str, str]:
        """Return no members."""
        return {}


@dataclass(frozen=True)
class InsideAreas(NoGeoCondition):
    """A search inside any of several areas."""

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

    def members(self) -> Mapping[str, str]:
        """Return the centre, and the radius if it is automatic."""
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
