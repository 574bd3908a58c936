"""Pages as extractors see them."""

from __future__ import annotations

import pytest

from svc_notebook.service.crawl.extraction import file_type, sniff_media_type

TYPES = [
    ("text/html", "https://a.test/", "html"),
    ("Text/HTML; charset=utf-8", "https://a.test/x.pdf", "html"),
    ("application/xhtml+xml", "https://a.test/", "html"),
    ("application/pdf", "https://a.test/", "pdf"),
    ("application/octet-stream", "https://a.test/a/b.PDF?x=1", "pdf"),
    ("", "https://a.test/a%2Epdf", "pdf"),
    ("", "https://a.test/a.html", "html"),
    ("", "https://a.test/", None),
    ("application/zip", "https://a.test/report.odt", "odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", "https://a.test/", "ods"),
    ("application/msword", "https://a.test/", "doc"),
    ("message/rfc822", "https://a.test/", "email"),
    ("image/png", "https://a.test/a.html", None),
    ("text/plain", "https://a.test/a.txt", None),
]


@pytest.mark.parametrize(("content_type", "url", "kind"), TYPES)
def test_a_file_type_is_declared_by_the_server_or_the_url(
    content_type: str, url: str, kind: str | None
) -> None:
    assert file_type(content_type, url) == kind


SNIFFED = [
    (b"<!doctype HTML><p>", "text/html"),
    (b"\xef\xbb\xbf \n<html>", "text/html"),
    (b"<HEAD\n>", "text/html"),
    (b"<!-- x -->", "text/html"),
    (b"<picture>", "text/plain"),
    (b"<?xml version='1.0'?><urlset/>", "text/xml"),
    (b"<?xml version='1.0'?>\n<!-- a -->\n<html xmlns='http://www.w3.org/1999/xhtml'/>",
     "application/xhtml+xml"),
    (b"%PDF-1.7\n\x00", "application/pdf"),
    (b"PK\x03\x04abc", "application/zip"),
    (b"\x89PNG\r\n", "image/png"),
    ("\ufeffH\u00e9llo".encode("utf-16-le"), "text/plain"),
    (b"H\xe9llo\x1b[0m\n", "text/plain"),
    (b"a\x00b", "application/octet-stream"),
    (b" \n", ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "media_type"), SNIFFED)
def test_bytes_show_their_media_type(body: bytes, media_type: str) -> None:
    assert sniff_media_type(body) == media_type


def test_bytes_decide_only_without_a_declared_type() -> None:
    assert file_type("", "https://a.test/", b"<html>") == "html"
    assert file_type("", "https://a.test/report.pdf", b"<html>") == "html"
    assert file_type("*/*", "https://a.test/a.html", b"%PDF-1.4") == "pdf"
    assert file_type("", "https://a.test/a.docx", b"PK\x03\x04") == "doc"
    assert file_type("", "https://a.test/a.png", b"\x89PNG") is None
    assert file_type("text/plain", "https://a.test/", b"<html>") is None
    assert file_type("application/octet-stream", "https://a.test/", b"<html>") is None
