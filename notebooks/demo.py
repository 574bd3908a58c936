"""The whole way on real films: a CSV goes in, ranked hits come out, a change is measured.

Run as `make demo`. Whatever is off ends it with a status other than 0; nothing is faked.
"""

from __future__ import annotations

import argparse
import html
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from films import write_films
from matplotlib.figure import Figure

import svc_notebook as svc

INDEX = "films"
WORDS = {
    "searchableAttributes": ["Title", "Director", "Cast"],
    "attributesForFaceting": ["searchable(Genre)", "Language", "Year"],
}
POPULAR = {"customRanking": ["desc(Reviews)"]}
QUERY = "godfather"


def main() -> int:
    """Tell the story once; return 0 when every part of it is true."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="where to write")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, local_service(Path(folder)) as client:
        films = load_films(client, write_films(out / "films.csv"))
        searches = search_films(client)
        before, after = change_ranking(client)
        decades = push_decades(client, films)
    picture = draw_moves(before, after, out / "moves.png")
    page = write_page(out / "films.html", picture, after, decades)
    say(f"wrote {picture} and {page}")
    seconds = time.monotonic() - start
    say(f"{len(films):,} films, {searches} searches, all checks passed, in {seconds:.0f} s")
    return 0


@contextmanager
def local_service(folder: Path) -> Iterator[svc.Client]:
    """Start a service of our own, and end it with the story."""
    service = svc.local(data=folder)
    try:
        client = svc.connect(
            url=service.url, app_id=service.app_id, api_key=service.admin_key.reveal()
        )
        say(f"local service at {service.url}")
        yield client
    finally:
        service.stop()


def load_films(client: svc.Client, path: Path) -> pd.DataFrame:
    """Load the CSV; the rows that cannot be sent are told, not lost."""
    plan = svc.plan(path, INDEX, id="imdbID")
    say(str(plan))
    result = svc.load(path, INDEX, id="imdbID")
    say(str(result))
    rows = len(pd.read_csv(path))
    check(result.published + len(result.rejected) == rows, "every row is published or told")
    check(len(result.rejected) > 0, "the ids that come twice are told")
    svc.wait(client.set_settings(INDEX, WORDS), index=INDEX)
    films = svc.read_browse(INDEX)
    check(len(films) == result.published, "what was published can be browsed")
    return films


def search_films(client: svc.Client) -> int:
    """Search with typos, filters and facets."""
    typo = svc.search(INDEX, "godfahter", hitsPerPage=5, criteria=True)
    say_hits("'godfahter', misspelt", typo[["Title", "Year", "nbTypos"]])
    check(typo["Title"].str.contains("Godfather").all(), "a typo still finds the Godfather")

    filters = "Language:English AND Year:1970 TO 1979 AND Meter >= 90"
    old = svc.search(INDEX, "star", filters=filters, hitsPerPage=5)
    say_hits(f"'star' with {filters}", old[["Title", "Year", "Meter"]])
    check(old["Year"].between(1970, 1979).all(), "filters hold")
    check((old["Meter"] >= 90).all(), "filters hold")

    facets = client.search(INDEX, "war", facets=["Language"], hitsPerPage=1)
    counts = pd.Series(facets["facets"]["Language"]).head(5)
    say("'war' by language: " + ", ".join(f"{name} {n:,}" for name, n in counts.items()))
    check(counts.iloc[0] == counts.max(), "the largest count comes first")
    return 3


def change_ranking(client: svc.Client) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Let the films with the most reviews win ties, and see which hits move."""
    before = svc.search(INDEX, QUERY, hitsPerPage=10)
    svc.wait(client.set_settings(INDEX, POPULAR), index=INDEX)
    after = svc.search(INDEX, QUERY, hitsPerPage=10)
    ranks = before.set_index("objectID")["rank"]
    moves = after.assign(was=after["objectID"].map(ranks))
    say_hits(f"'{QUERY}', most reviewed first among equals", moves[["rank", "was", "Title"]])
    check(set(before["objectID"]) == set(after["objectID"]), "the ranking loses no hit")
    check(list(before["objectID"]) != list(after["objectID"]), "hits move")
    return before, after


def push_decades(client: svc.Client, films: pd.DataFrame) -> pd.Series[Any]:
    """Change the table with pandas and push it back."""
    changed = pd.DataFrame(
        {
            "objectID": films["objectID"],
            "Decade": films["Year"] // 10 * 10,
            "Genre": films["Genre"].str.split(", "),
        }
    )
    result = changed.svc.push(INDEX, action="update")
    say(str(result))
    check(result.published == len(films), "every changed film is published")
    faceting = [*WORDS["attributesForFaceting"], "Decade"]
    svc.wait(client.set_settings(INDEX, {"attributesForFaceting": faceting}), index=INDEX)
    answer = client.search(INDEX, "", facets=["Decade", "Genre"], hitsPerPage=1)
    decades = pd.Series(answer["facets"]["Decade"]).sort_index()
    expected = changed["Decade"].astype(str).value_counts().sort_index()
    check(decades.to_dict() == expected.to_dict(), "pandas and the service count the same")
    check("Drama" in answer["facets"]["Genre"], "a list is a facet of its items")
    return decades


def draw_moves(before: pd.DataFrame, after: pd.DataFrame, path: Path) -> Path:
    """Draw the two rankings side by side, a line for each film."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    ranks = before.set_index("objectID")["rank"]
    for hit in after.itertuples():
        was = ranks[hit.objectID]
        colour = "#1f5fa8" if hit.rank < was else "#9aa5b1"
        axes.plot([0, 1], [was, hit.rank], color=colour, linewidth=2, marker="o")
        label = f"{hit.rank}  {hit.Title} ({hit.Year}), {hit.Reviews:,.0f} reviews"
        axes.text(1.04, hit.rank, label, va="center", fontsize=9)
        axes.text(-0.04, was, f"{was}", va="center", ha="right", fontsize=9)
    axes.set(xlim=(-0.2, 3.4), xticks=[0, 1], xticklabels=["before", "after"], yticks=[])
    axes.invert_yaxis()
    axes.set_title(f"'{QUERY}': most reviewed first among equals", loc="left")
    axes.spines[:].set_visible(False)
    figure.savefig(path, dpi=150)
    return path


def write_page(path: Path, picture: Path, hits: pd.DataFrame, decades: pd.Series[Any]) -> Path:
    """Write one page that needs nothing but the picture beside it."""
    rows = "".join(
        f"<tr><td>{hit.rank}<td>{html.escape(str(hit.Title))}<td>{hit.Year}<td>{hit.Reviews:,.0f}"
        for hit in hits.itertuples()
    )
    widest = decades.max()
    bars = "".join(
        f'<tr><td>{decade}<td><div style="width:{20 * n / widest:.1f}em"></div><td>{n:,}'
        for decade, n in decades.items()
    )
    path.write_text(
        PAGE.format(query=html.escape(QUERY), picture=picture.name, rows=rows, bars=bars),
        encoding="utf-8",
    )
    return path


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Films</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 54em; margin: 2em auto; padding: 0 1em;
  color: #1b2733; }}
img {{ max-width: 100% }} table {{ border-collapse: collapse }}
td, th {{ padding: .2em .8em .2em 0; text-align: left }}
td div {{ background: #1f5fa8; height: .9em }}
</style>
<h1>Films</h1>
<p>Hits for <b>{query}</b> before and after the most reviewed come first among equals.
<p><img src="{picture}" alt="Ranks before and after, one line for each film">
<table><tr><th>rank<th>title<th>year<th>reviews{rows}</table>
<h2>Films by decade</h2><table>{bars}</table>
</html>
"""


def check(holds: object, claim: str) -> None:
    """End the demo at the first claim that does not hold."""
    if not holds:
        sys.exit(f"not so: {claim}")


def say(text: str) -> None:
    """Write one paragraph of the story."""
    sys.stdout.write(f"{text}\n\n")
    sys.stdout.flush()


def say_hits(title: str, hits: pd.DataFrame) -> None:
    """Write a small table of hits."""
    say(f"{title}\n{hits.to_string(index=False)}")


if __name__ == "__main__":
    sys.exit(main())
