from __future__ import annotations

import pytest

from svc_notebook.service.crawl.extracting import file_type

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
def test_a_file_s_type_is_what_its_server_says_or_else_its_address(
    content_type: str, url: str, kind: str | None
) -> None:
    assert file_type(content_type, url) == kind
