"""The films the tutorials search: 17,472 of them, written out as the CSV one is usually handed.

The table is Wikidata's, as the package `bokeh_sampledata` carries it (CC0). It has the blemishes
of real tables: two films twice under one id, empty cells, lists squeezed into text.
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
    """Write the table as CSV and return where it is."""
    from bokeh_sampledata.movies_data import movie_path

    with closing(sqlite3.connect(movie_path)) as database:
        films = pd.read_sql(FILMS, database)
    films.to_csv(path, index=False)
    return path
