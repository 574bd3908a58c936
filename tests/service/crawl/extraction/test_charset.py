"""Character sets of pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.crawl.extraction.page import decode

CHARSET_PARAMETER = [
    ("utf-8", "text/html; charset=utf-8", ""),
    ("iso-8859-1", "text/html; charset=ISO-8859-1", ""),
    ("cp1252", "text/html", '<meta charset="iso-8859-1">'),
    (
        "shift_jis",
        "text/html",
        '<meta http-equiv=content-type content="text/html; charset=Shift_JIS">',
    ),
    ("euc-kr", "text/html; charset='euc-kr'", ""),
    ("gb2312", "text/html", "<META CHARSET=gb2312>"),
    ("iso-8859-2", "application/xhtml+xml", '<?xml version="1.0" encoding="ISO-8859-2"?>'),
]
TEXTS = {"shift_jis": "ランプ", "euc-kr": "램프", "gb2312": "灯", "iso-8859-2": "żółw"}


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize(("encoding", "content_type", "head"), CHARSET_PARAMETER)
def test_a_page_is_decoded_by_its_declared_encoding(
    encoding: str, content_type: str, head: str
) -> None:
    text = head + TEXTS.get(encoding, "Käse “fein”" if encoding == "cp1252" else "Käse")

    assert decode(text.encode(encoding), content_type) == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins(encoding: str) -> None:
    assert decode("<p>é".encode(encoding), "text/html; charset=iso-8859-1") == "<p>é"


def test_the_header_wins_over_the_page() -> None:
    assert decode('<meta charset="latin1">é'.encode(), "text/html; charset=utf-8").endswith("é")


def test_latin_1_is_read_as_windows_1252() -> None:
    assert decode(b"\x80 5", "text/html; charset=iso-8859-1") == "€ 5"


def test_an_unknown_encoding_is_ignored() -> None:
    assert decode("é".encode(), "text/html; charset=base64") == "é"
    assert decode("é".encode(), "text/html; charset=klingon") == "é"


def test_a_page_without_an_encoding_is_utf_8_or_windows_1252() -> None:
    assert decode("é".encode(), "text/html") == "é"
    assert decode("é".encode("latin-1"), "text/html") == "é"


@pytest.mark.slow
@given(st.binary(), st.text(max_size=30))
def test_any_bytes_are_decoded(body: bytes, content_type: str) -> None:
    assert isinstance(decode(body, f"text/html; charset={content_type}"), str)
