"""A few films, searched by every peer."""

from __future__ import annotations

from typing import Any

FILMS: list[dict[str, Any]] = [
    {
        "objectID": "1",
        "title": "Alien",
        "year": 1979,
        "genre": ["horror", "space"],
        "crew": {"director": "Ridley Scott", "lead": "Sigourney Weaver"},
        "plot": "The crew of a freighter answers a call and takes an alien on board",
        "_tags": ["classic"],
    },
    {
        "objectID": "2",
        "title": "Aliens",
        "year": 1986,
        "genre": ["war", "space"],
        "crew": {"director": "James Cameron", "lead": "Sigourney Weaver"},
        "plot": "Marines go back to the moon where it all began",
    },
    {
        "objectID": "3",
        "title": "Solaris",
        "year": 1972,
        "genre": ["space"],
        "crew": {"director": "Andrei Tarkovsky", "lead": "Donatas Banionis"},
        "plot": "A psychologist visits a station above an ocean that thinks",
        "_tags": ["classic"],
    },
    {
        "objectID": "4",
        "title": "Heat",
        "year": 1995,
        "genre": ["crime"],
        "crew": {"director": "Michael Mann", "lead": "Al Pacino"},
        "plot": "A detective and a thief drink coffee",
    },
]
SETTINGS: dict[str, Any] = {
    "searchableAttributes": ["title", "crew", "plot"],
    "attributesForFaceting": ["searchable(genre)", "year", "filterOnly(crew.director)"],
    "customRanking": ["asc(year)"],
}
