"""Geo search: distances, radii, precision, boxes, polygons, and invalid parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.filters.geo_search import AUTO_RADIUS_RECORDS
from tests.service.engine.oracle import EARTH, in_polygon, metres

Record = dict[str, Any]
PARIS, ROME, SUVA = (48.8566, 2.3522), (41.9028, 12.4964), (-18.1248, 178.4501)
WORLD = [[90, -180, -90, 180]]
DEGREE = EARTH * math.pi / 180


def at(name: str, *places: tuple[float, float], **more: Any) -> Record:
    found = [{"lat": lat, "lng": lng} for lat, lng in places]
    return {"objectID": name, "_geoloc": found[0] if len(found) == 1 else found, **more}


TOWNS = [
    at("paris", PARIS, size="large"),
    at("rome", ROME, size="large"),
    at("suva", SUVA, size="small"),
    {"objectID": "nowhere", "size": "large"},
]


def fill(records: Sequence[Record] = TOWNS, **settings: Any) -> Index:
    index = Index(settings)
    index.put(records)
    return index


def find(index: Index, **params: Any) -> SearchResult:
    return index.search({"hitsPerPage": 1000, **params}, lambda ids: [{"objectID": n} for n in ids])


def ids(index: Index, **params: Any) -> list[str]:
    return [hit["objectID"] for hit in find(index, **params).hits]


def written(place: tuple[float, float]) -> str:
    return f"{place[0]},{place[1]}"


# ------------------------------------------------------------------------------ around a centre


def test_the_nearest_records_are_first_and_records_without_a_point_are_not_found() -> None:
    assert ids(fill(), aroundLatLng=written(ROME)) == ["rome", "paris", "suva"]


def test_ranking_info_contains_great_circle_distances() -> None:
    found = find(fill(), aroundLatLng=written(PARIS), getRankingInfo=True, aroundPrecision=1000)

    infos = {hit["objectID"]: hit["_rankingInfo"] for hit in found.hits}
    place = {"lat": ROME[0], "lng": ROME[1]}
    assert infos["rome"]["matchedGeoLocation"] == {**place, "distance": 1105281}
    assert (infos["rome"]["geoDistance"], infos["rome"]["geoPrecision"]) == (1105, 1000)
    assert infos["paris"]["matchedGeoLocation"]["distance"] == 0


def test_a_search_without_a_centre_returns_no_distance() -> None:
    found = find(fill(), insideBoundingBox=WORLD, getRankingInfo=True)

    for hit in found.hits:
        assert (hit["_rankingInfo"]["geoDistance"], hit["_rankingInfo"]["geoPrecision"]) == (0, 1)
        assert "matchedGeoLocation" not in hit["_rankingInfo"]


def test_the_nearest_of_several_places_counts() -> None:
    index = fill([at("chain", ROME, PARIS), at("single", (48.9, 2.4))])

    found = find(index, aroundLatLng=written(PARIS), getRankingInfo=True)

    assert [hit["objectID"] for hit in found.hits] == ["chain", "single"]
    matched = found.hits[0]["_rankingInfo"]["matchedGeoLocation"]
    assert (matched["lat"], matched["lng"]) == PARIS
    assert ids(index, aroundLatLng=written(ROME), aroundRadius=10) == ["chain"]


@pytest.mark.parametrize(
    ("radius", "expected"),
    [
        (1, ["paris"]),
        (1_105_281, ["paris"]),
        (1_105_282, ["paris", "rome"]),
        (30_000_000, ["paris", "rome", "suva"]),
        ("all", ["paris", "rome", "suva"]),
    ],
)
def test_a_radius_excludes_farther_records(radius: int | str, expected: list[str]) -> None:
    found = find(fill(), aroundLatLng=written(PARIS), aroundRadius=radius)

    assert [hit["objectID"] for hit in found.hits] == expected
    assert found.nbHits == len(expected)
    assert "automaticRadius" not in found.extra


def test_an_automatic_radius_depends_on_the_density() -> None:
    step = 0.001
    index = fill([at(f"{n:04}", (round(n * step, 4), 0)) for n in range(AUTO_RADIUS_RECORDS + 500)])

    found = find(index, aroundLatLng="0,0")

    assert found.nbHits == AUTO_RADIUS_RECORDS
    assert found.extra["automaticRadius"] == str(
        math.ceil((AUTO_RADIUS_RECORDS - 1) * step * DEGREE)
    )


def test_an_automatic_radius_has_a_configurable_minimum() -> None:
    index = fill([at("here", PARIS)])

    found = find(index, aroundLatLng=written(PARIS), minimumAroundRadius=5000)

    assert found.extra["automaticRadius"] == "5000"


def test_without_records_the_radius_is_the_minimum() -> None:
    assert find(Index({}), aroundLatLng="0,0").extra["automaticRadius"] == "1"
    assert find(fill([{"objectID": "1"}]), aroundLatLng="0,0").nbHits == 0


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        (1, ["c", "b", "a"]),
        (10, ["c", "b", "a"]),
        (30, ["c", "a", "b"]),
        (100, ["a", "b", "c"]),
        ([{"from": 0, "value": 100}], ["a", "b", "c"]),
        ([{"from": 25, "value": 100}, {"from": 0, "value": 10}], ["c", "a", "b"]),
        ([{"from": 35, "value": 100}], ["c", "b", "a"]),
        ([{"from": -5, "value": 100}], ["a", "b", "c"]),
    ],
)
def test_within_the_precision_the_next_criterion_decides(
    precision: Any, expected: list[str]
) -> None:
    # Four decimals are steps of 11 metres: these are 44, 33 and 11 away.
    index = fill([at("a", (0.0004, 0)), at("b", (0.0003, 0)), at("c", (0.0001, 0))])

    assert ids(index, aroundLatLng="0,0", aroundPrecision=precision) == expected


def test_a_coarser_precision_at_distance_never_ranks_far_before_near() -> None:
    index = fill([at(f"{n:03}", (round(n * 0.0003, 4), 0)) for n in range(300)])
    steps = [{"from": 0, "value": 700}, {"from": 2500, "value": 1000}, {"from": 5100, "value": 10}]

    found = find(index, aroundLatLng="0,0", aroundPrecision=steps, getRankingInfo=True)

    infos = [hit["_rankingInfo"] for hit in found.hits]
    bucket = [(info["geoDistance"], info["geoPrecision"]) for info in infos]
    far = [info["matchedGeoLocation"]["distance"] for info in infos]
    near_to_far = [max(group) for group in groups(bucket, far)]
    assert near_to_far == sorted(near_to_far)
    assert len(set(bucket)) == len(near_to_far) > 20


def groups(keys: Sequence[object], values: Sequence[int]) -> list[list[int]]:
    found = [[values[0]]]
    for (before, key), value in zip(pairwise(keys), values[1:], strict=True):
        found.append([value]) if key != before else found[-1].append(value)
    return found


def test_geo_ranks_at_its_position_in_the_ranking() -> None:
    settings = {"customRanking": ["asc(rank)"]}
    index = fill([at("near", PARIS, rank=2), at("far", ROME, rank=1)], **settings)
    around = {"aroundLatLng": written(PARIS)}

    assert ids(index, **around) == ["near", "far"]
    assert ids(index, **around, ranking=["custom", "geo"]) == ["far", "near"]
    assert ids(index, insideBoundingBox=WORLD) == ["far", "near"]


def test_the_response_repeats_the_centre_as_sent() -> None:
    assert find(fill(), aroundLatLng=" 48.85, 2.35").extra["aroundLatLng"] == "48.85, 2.35"


@pytest.mark.parametrize(
    "empty", [{"aroundLatLng": ""}, {"insidePolygon": []}, {"aroundRadius": 1}]
)
def test_without_a_geo_parameter_everything_is_found(empty: dict[str, Any]) -> None:
    found = find(fill(), **empty)

    assert found.nbHits == 4
    assert "aroundLatLng" not in found.extra


def test_the_callers_ip_address_has_no_location() -> None:
    assert ids(fill(), aroundLatLngViaIP=True) == ids(fill())


# ---------------------------------------------------------------------------- boxes and polygons


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ([50, 0, 45, 5], ["paris"]),
        ([45, 5, 50, 0], ["paris"]),
        ([50, 5, 45, 0], ["paris"]),
        ([90, -180, -90, 180], ["paris", "rome", "suva"]),
        ([90, 180, -90, -180], ["paris", "rome", "suva"]),
        ([0, 170, -30, -170], ["suva"]),
        ([90, 100, -90, -100], ["suva"]),
        ([90, -170, -90, 170], ["paris", "rome"]),
        ([PARIS[0], PARIS[1], ROME[0], ROME[1]], ["paris", "rome"]),
        ([10, 10, 11, 11], []),
    ],
)
def test_a_box_is_two_opposite_corners(box: list[float], expected: list[str]) -> None:
    assert ids(fill(), insideBoundingBox=[box]) == expected


SQUARE = [50, 0, 50, 5, 45, 5, 45, 0]


@pytest.mark.parametrize(
    ("area", "expected"),
    [
        ({"insideBoundingBox": "50,0,45,5"}, ["paris"]),
        ({"insideBoundingBox": "50,0,45,5, 45,10,40,15"}, ["paris", "rome"]),
        ({"insideBoundingBox": "[[50,0,45,5],[45,10,40,15]]"}, ["paris", "rome"]),
        ({"insideBoundingBox": "[50,0,45,5]"}, ["paris"]),
        ({"insidePolygon": [SQUARE]}, ["paris"]),
        ({"insidePolygon": ",".join(map(str, SQUARE))}, ["paris"]),
        ({"insidePolygon": [SQUARE, [45, 10, 45, 15, 40, 12.6]]}, ["paris", "rome"]),
        ({"insidePolygon": [SQUARE], "insideBoundingBox": "45,10,40,15"}, ["rome"]),
        ({"insidePolygon": [SQUARE], "aroundLatLng": "0,0", "aroundRadius": 1}, ["paris"]),
        ({"insideBoundingBox": WORLD, "aroundLatLng": "x"}, ["paris", "rome", "suva"]),
        ({"insideBoundingBox": WORLD, "filters": "size:large"}, ["paris", "rome"]),
    ],
)
def test_areas_are_alternatives_and_a_box_goes_before_a_polygon(
    area: dict[str, Any], expected: list[str]
) -> None:
    assert ids(fill(attributesForFaceting=["size"]), **area) == expected


DENTED = [0, 0, 0, 4, 4, 4, 2, 2, 4, 0]
HOOK = [0, 0, 0, 4, 2, 4, 2, 2, 4, 2, 4, 0]
DIAMOND = [1, 1, 2, 2, 1, 3, 0, 2]
BOW = [0, 0, 4, 4, 0, 4, 4, 0]


@pytest.mark.parametrize(
    ("polygon", "place", "inside"),
    [
        (DENTED, (1, 1), True),
        (DENTED, (3, 2), False),
        (DENTED, (2, 2), True),
        (DENTED, (0, 2), True),
        (DENTED, (0, 5), False),
        (DENTED, (1, 4), True),
        (HOOK, (3, 3), False),
        (HOOK, (2, 3), True),
        (HOOK, (2, 5), False),
        (DIAMOND, (1, 2), True),
        (DIAMOND, (1, 0.5), False),
        (BOW, (1, 2), False),
        (BOW, (2, 2), True),
        (BOW, (2, 3), True),
    ],
)
def test_a_polygon_may_have_dents_and_its_edge_belongs_to_it(
    polygon: list[float], place: tuple[float, float], inside: bool
) -> None:
    assert bool(ids(fill([at("x", place)]), insidePolygon=[polygon])) is inside


PLACE = st.tuples(st.integers(-80, 80), st.integers(-170, 170))
FINE = st.tuples(
    st.integers(-800_000, 800_000).map(lambda n: n / 10_000),
    st.integers(-1_700_000, 1_700_000).map(lambda n: n / 10_000),
)


@pytest.mark.slow
def test_a_polygon_of_thousands_of_long_edges_agrees_with_the_oracle() -> None:
    # Each edge crosses the latitudes of most places, so that not all pairs fit at one time.
    draw = Random(5)
    places = [(draw.uniform(-50, 50), draw.uniform(-90, 90)) for _ in range(600)]
    corners = [
        (draw.uniform(40, 60) * (-1) ** number, draw.uniform(-100, 100)) for number in range(3000)
    ]
    polygon = [number for corner in corners for number in corner]

    found = ids(
        fill([at(str(n), place) for n, place in enumerate(places)]), insidePolygon=[polygon]
    )

    kept = {(round(lat, 4), round(lng, 4)): str(n) for n, (lat, lng) in enumerate(places)}
    assert set(found) == {name for place, name in kept.items() if in_polygon(place, polygon)}


@given(st.lists(PLACE | FINE, min_size=1, max_size=12), PLACE, PLACE)
def test_a_box_is_the_polygon_of_its_corners(
    places: list[tuple[float, float]], one: tuple[int, int], other: tuple[int, int]
) -> None:
    index = fill([at(str(n), *places[n::3]) for n in range(min(3, len(places)))])
    (lat1, lng1), (lat2, lng2) = one, other
    lng2 = lng1 + (lng2 - lng1) // 2

    boxed = ids(index, insideBoundingBox=[[lat1, lng1, lat2, lng2]])

    corners = [lat1, lng1, lat1, lng2, lat2, lng2, lat2, lng1]
    assert boxed == ids(index, insidePolygon=[corners])


@given(
    st.lists(FINE, min_size=1, max_size=12),
    FINE,
    st.lists(st.integers(1, 25_000_000), min_size=2, max_size=5).map(sorted),
)
def test_a_larger_radius_never_loses_a_hit(
    places: list[tuple[float, float]], centre: tuple[float, float], radii: list[int]
) -> None:
    index = fill([at(str(n), place) for n, place in enumerate(places)])

    reached = [
        set(ids(index, aroundLatLng=written(centre), aroundRadius=radius))
        for radius in [*radii, "all"]
    ]

    assert all(before <= after for before, after in pairwise(reached))
    assert len(reached[-1]) == len(places)
    for radius, found in zip(radii, reached, strict=False):
        assert found == {str(n) for n, p in enumerate(places) if metres(p, centre) <= radius}


@given(st.lists(FINE, min_size=3, max_size=8), FINE)
def test_a_polygon_is_the_same_wherever_it_begins_and_whichever_way_it_goes(
    corners: list[tuple[float, float]], place: tuple[float, float]
) -> None:
    index = fill([at("x", place)])
    ways = [corners, corners[1:] + corners[:1], corners[::-1]]

    found = {
        tuple(ids(index, insidePolygon=[[n for corner in way for n in corner]])) for way in ways
    }

    assert len(found) == 1


# --------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "48.85,2.35",
        5,
        [],
        {},
        {"lat": 1},
        {"lat": "1", "lng": 1},
        {"lat": True, "lng": 1},
        {"lat": 91, "lng": 1},
        {"lat": 1, "lng": -180.5},
        {"lat": math.inf, "lng": 1},
        {"lat": math.nan, "lng": 1},
        {"lat": 10**400, "lng": 1},
        [[1, 2]],
        [1, 2],
    ],
    ids=repr,
)
def test_invalid_points_are_ignored(bad: Any) -> None:
    good = {"lat": 1.5, "lng": 2}
    mixed = [*(bad if isinstance(bad, list) else [bad]), good]
    index = fill([{"objectID": "bad", "_geoloc": bad}, {"objectID": "mixed", "_geoloc": mixed}])

    found = find(index, aroundLatLng="1.5,2", getRankingInfo=True)

    assert [hit["objectID"] for hit in found.hits] == ["mixed"]
    assert found.hits[0]["_rankingInfo"]["matchedGeoLocation"] == {**good, "distance": 0}


def test_places_keep_four_decimals() -> None:
    found = find(fill([at("x", (1.234567, -2.00004))]), aroundLatLng="0,0", getRankingInfo=True)

    matched = found.hits[0]["_rankingInfo"]["matchedGeoLocation"]
    assert (matched["lat"], matched["lng"]) == (1.2346, -2.0)


def test_coordinates_are_numbers_to_filter_by() -> None:
    assert ids(fill(), filters="_geoloc.lat > 45") == ["paris"]
    assert ids(fill(), filters="_geoloc.lng > 100") == ["suva"]


def test_points_survive_merging_deleting_saving_and_loading(tmp_path: Path) -> None:
    index = Index({})
    for n in range(40):
        index.put([at(f"{n:02}", (n, n), (-n, -n)), {"objectID": f"x{n}"}])
    index.delete([f"{n:02}" for n in range(0, 40, 2)])
    expected = ids(index, aroundLatLng="0,0", aroundRadius="all")
    assert expected == [f"{n:02}" for n in range(1, 40, 2)]

    index.compact()
    index.save(tmp_path, 7)
    loaded = Index.load(tmp_path, {})

    assert loaded is not None
    for one in (index, loaded[0]):
        assert ids(one, aroundLatLng="0,0", aroundRadius="all") == expected
        assert ids(one, insideBoundingBox=[[-5.5, -5.5, -2.5, -2.5]]) == ["03", "05"]
        assert ids(one, insidePolygon=[[2.5, 2.5, 2.5, 6, 6, 6, 6, 2.5]]) == ["03", "05"]


def test_groups_facets_and_deletions_respect_the_geo_condition() -> None:
    index = fill(attributesForFaceting=["searchable(size)"], attributeForDistinct="size")
    europe = {"insideBoundingBox": [[60, 0, 40, 20]]}

    assert find(index, **europe, facets=["size"]).facets == {"size": {"large": 2}}
    assert ids(index, **europe, distinct=True) == ["paris"]
    assert [hit["count"] for hit in index.facet_values("size", "", europe, 10).hits] == [2]
    assert index.matching(europe) == ["paris", "rome"]
    assert index.order(europe)[:] == ["paris", "rome"]


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"aroundLatLng": "91,2"}, "aroundLatLng: latitude 91 is not from -90 to 90"),
        ({"aroundLatLng": "-1,180.5"}, "aroundLatLng: longitude 180.5 is not from -180 to 180"),
        ({"aroundLatLng": "1e999,2"}, "aroundLatLng: latitude inf is not from -90 to 90"),
        ({"aroundLatLng": "nan,2"}, 'aroundLatLng: expected a number, found "nan" (number 1)'),
        ({"aroundLatLng": "1_0,2"}, 'aroundLatLng: expected a number, found "1_0" (number 1)'),
        ({"aroundLatLng": "1"}, 'aroundLatLng: expected "latitude,longitude", found "1"'),
        ({"aroundLatLng": "1,2,3"}, 'aroundLatLng: expected "latitude,longitude", found "1,2,3"'),
        ({"aroundLatLng": "1,east"}, 'aroundLatLng: expected a number, found "east" (number 2)'),
        ({"aroundLatLng": " "}, 'aroundLatLng: expected a number, found "" (number 1)'),
        (
            {"insideBoundingBox": [[1, 2, 3, 4], [1, 2, 3]]},
            "insideBoundingBox[1]: expected the 4 numbers of two corners, found 3",
        ),
        (
            {"insideBoundingBox": [[1, 2, 3, 4], [1, 2, 99, 4]]},
            "insideBoundingBox[1]: latitude 99 is not from -90 to 90 (number 3)",
        ),
        ({"insideBoundingBox": "1,2,3"}, "insideBoundingBox[0]: expected the 4 numbers"),
        ({"insideBoundingBox": '[[1,2,3,"4"]]'}, 'insideBoundingBox[0]: longitude "4" is not'),
        ({"insideBoundingBox": "[[1,2,3,4],5]"}, "insideBoundingBox[1]: expected a list of"),
        ({"insideBoundingBox": "[[1,"}, "insideBoundingBox: expected numbers or lists of them"),
        ({"insidePolygon": [[1, 2, 3, 4]]}, "insidePolygon[0]: expected 3 to 10,000 points"),
        ({"insidePolygon": [[1, 2, 3, 4, 5, 6, 7]]}, "found 7 numbers"),
        ({"insidePolygon": [[1.0, 2.0] * 10_001]}, "found 20002 numbers"),
        (
            {"insidePolygon": "1,2,3,4,5,x"},
            'insidePolygon: expected a number, found "x" (number 6)',
        ),
    ],
)
def test_an_invalid_geo_parameter_is_refused_by_name(params: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        find(fill(), **params)

    assert message in str(refused.value)
