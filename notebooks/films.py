"""The table of 17,472 films that the tutorials load, as a CSV file.

The table is Wikidata's, from the package `bokeh_sampledata` (CC0). It has faults that real tables
have: two ids occur twice, cells are empty, and lists are stored as text.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd

FILMS = """
    select imdbID, Title, Year, Runtime, Genre, Director, "Cast", Language, Country,
           Oscars, Meter, Reviews, BoxOffice
    from omdb join tomatoes using (ID) order by ID
"""


def write_films(path: Path) -> Path:
    """Write the table as CSV and return its path."""
    try:
        from bokeh_sampledata.movies_data import movie_path
    except ModuleNotFoundError as error:
        advice = 'the films are not installed; run `pip install "svc-notebook[demo]"`'
        raise ModuleNotFoundError(advice, name=error.name) from None

    with closing(sqlite3.connect(movie_path)) as database:
        films = pd.read_sql(FILMS, database)
    films.to_csv(path, index=False)
    return path
