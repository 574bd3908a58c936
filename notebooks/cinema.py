"""A local website of a cinema for the tutorial on crawlers, with one page per film."""

from __future__ import annotations

import threading
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><h1>{title}</h1>{body}</body></html>
"""


def open_site(films: pd.DataFrame, folder: Path = Path("cinema-site")) -> str:
    """Write the pages, serve them until the process ends, and return the address."""
    (folder / "films").mkdir(parents=True, exist_ok=True)
    links = []
    for film in films.to_dict("records"):
        path = f"films/{film['objectID']}.html"
        title = escape(str(film["Title"]))
        write_page(folder / path, title, f'<p class="year">{film["Year"]}</p>')
        links.append(f'<li><a href="/{path}">{title}</a></li>')
    links.append('<li><a href="/films/lost.html">A film that was lost</a></li>')
    write_page(folder / "index.html", "On tonight", f"<ul>{''.join(links)}</ul>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def write_page(path: Path, title: str, body: str) -> None:
    """Write one page."""
    path.write_text(PAGE.format(title=title, body=body), encoding="utf-8")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *args: object) -> None:
        """Keep quiet."""
