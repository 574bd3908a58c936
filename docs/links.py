"""Find dead links, anchors and pictures in a folder of HTML pages, wherever they come from.

The builder checks links of Markdown only: not pictures, and not HTML such as outputs of notebooks.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ATTRIBUTES = {"href", "src", "srcset", "poster"}


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the anchors and links of one tag."""
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif name in ATTRIBUTES and value and tag != "base":
                self.links.append(value)


def find_dead_links(site: Path) -> list[str]:
    """Return each link within a site that leads nowhere, as `page: link`."""
    pages = {path: read_page(path) for path in site.rglob("*.html")}
    return [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        if path.name != "404.html"  # its links are relative to the address that was not found
        for link in dict.fromkeys(page.links)
        if not _leads_somewhere(link, path, pages)
    ]


def read_page(path: Path) -> Page:
    """Read the anchors and links of one page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _leads_somewhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    page = pages.get(target)
    return page is None or unquote(parts.fragment) in page.anchors
