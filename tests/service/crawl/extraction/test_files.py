"""Files other than HTML."""

from __future__ import annotations

import contextlib
import io
import zlib
from collections.abc import Mapping
from email.message import EmailMessage
from html import unescape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.service.crawl.extraction import (
    Document,
    Extractors,
    FetchedPage,
    Unreadable,
    read_document,
)
from svc_notebook.service.crawl.extraction.office import MAX_MEMBER_BYTES, MAX_XML_DEPTH, parse_xml
from tests.conftest import examples
from tests.service.crawl.extraction.conftest import Read
from tests.service.crawl.extraction.files import DOCX, ODT, PPTX, XLSX, make_pdf, make_zip

PDF = make_pdf(
    [["All our lamps. They", "are very bright.", "Prices follow."], ["Page two"]],
    title="Lamps & more",
    author="Ann",
)


def body(page: Document) -> str:
    return page.html.partition("<body>")[2].removesuffix("</body></html>")


def text_of(page: Document) -> list[str]:
    node = page.tree.body
    assert node is not None
    return node.text(separator=" ").split()


def test_a_pdf_is_pages_of_paragraphs(read: Read) -> None:
    page = read(PDF, "application/pdf")

    assert page.file_type == "pdf"
    assert page.title == "Lamps & more"
    assert page.content_length == len(PDF)
    assert 'name="author" content="Ann"' in page.html
    assert body(page) == (
        '<div class="page"><p>All our lamps. They are very bright.</p><p>Prices follow.</p></div>'
        '<div class="page"><p>Page two</p></div>'
    )


def test_extractors_read_a_pdf_as_any_page(extractors: Extractors, read: Read) -> None:
    source = "({ $, fileType }) => $('.page').toArray().map((p) => ({ fileType, t: $(p).text() }))"

    records = extractors.extract(read(PDF, "application/pdf"), source).records

    assert [record["fileType"] for record in records] == ["pdf", "pdf"]
    assert records[1]["t"] == "Page two"


def test_a_protected_pdf_is_reported() -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(PDF)))
    writer.encrypt("secret", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)

    with pytest.raises(Unreadable, match="protected by a password"):
        read_document(FetchedPage("https://a.test/", buffer.getvalue(), "application/pdf"))


def test_a_pdf_of_endless_pages_is_refused() -> None:
    loop = PDF.replace(b"/Kids [4 0 R 6 0 R] /Count 2", b"/Kids [2 0 R 2 0 R] /Count 2")
    many = make_pdf([["x"]] * 3).replace(b"/Count 3", b"/Count 9")

    for content in (loop, many):
        html = ""
        with contextlib.suppress(Unreadable):
            html = read_document(FetchedPage("https://a.test/", content, "application/pdf")).html

        assert len(html) < 10_000


@pytest.mark.slow
def test_a_pdf_that_unpacks_without_end_is_refused(extractors: Extractors) -> None:
    bomb = zlib.compress(b"BT (x) Tj ET " * (8 << 20))
    content = make_pdf([["short"]])
    start = content.index(b"/Length ")
    stop = content.index(b"endstream")
    content = content[:start] + b"/Length %d /Filter /FlateDecode >> stream\n" % len(bomb) + bomb \
        + b"\n" + content[stop:]  # fmt: skip

    with pytest.raises(Unreadable):
        extractors.read(FetchedPage("https://a.test/", content, "application/pdf"))


FILES = [
    ("doc", DOCX, "About lamps",
     '<h1>Lamps</h1><p>Bright &lt;b&gt; light<a href="https://a.test/?a=1&amp;b=2">here</a></p>'
     "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"),
    ("xls", XLSX, "",
     "<h2>Prices</h2><table><tbody><tr><td>Lamp</td><td>Desk</td><td></td></tr>"
     "<tr><td>12.5</td><td>in</td></tr></tbody></table>"),
    ("ppt", PPTX, "",
     '<div class="page"><h2>Slide 2</h2><p>Point</p></div>'
     '<div class="page"><h2>Slide 10</h2><p>Point</p></div>'),
    ("odt", ODT, "About lamps",
     '<h2>Lamps</h2><p>Bright light <a href="/x">here</a> end</p><h2>Prices</h2><table><tbody><tr>'
     '<td>1</td><td>2</td><td>2</td></tr></tbody></table><div class="page"><p>Boxed</p></div>'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "parts", "title", "html"), FILES, ids=lambda value: str(value)[:4]
)
def test_an_office_file_is_a_page(
    kind: str, parts: Mapping[str, str | bytes], title: str, html: str
) -> None:
    page = read_document(FetchedPage(f"https://a.test/file.{kind}", make_zip(parts), ""))

    assert page.file_type == kind
    assert page.title == title
    assert body(page).replace("\t", " ") == html


def test_a_file_type_is_detected_by_content(read: Read) -> None:
    assert body(read(make_zip(XLSX), "application/msword")).startswith("<h2>Prices</h2>")


BOMBS: list[tuple[str, dict[str, str | bytes]]] = [
    ("large", {"content.xml": b"<a>" + b" " * (MAX_MEMBER_BYTES + 10) + b"</a>"}),
    (
        "entities",
        {"content.xml": '<!DOCTYPE a [<!ENTITY x "yyyy"><!ENTITY z "&x;&x;">]><a>&z;</a>'},
    ),
    ("reference", {"content.xml": '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'}),
    ("deep", {"content.xml": "<a>" * (MAX_XML_DEPTH + 1) + "</a>" * (MAX_XML_DEPTH + 1)}),
    ("broken", {"content.xml": "<a>"}),
    ("none", {"readme.txt": "x"}),
    ("empty", {}),
    ("word", {"word/document.xml": ""}),
]


@pytest.mark.parametrize("parts", [parts for _, parts in BOMBS], ids=[name for name, _ in BOMBS])
def test_an_archive_that_is_a_bomb_or_broken_is_refused(parts: Mapping[str, str | bytes]) -> None:
    page = FetchedPage("https://a.test/a.odt", make_zip(parts), "")

    with pytest.raises(Unreadable) as refused:
        read_document(page)

    assert refused.value.reason in ("too_large", "broken_file", "unsupported_file_format")


def test_xml_is_read_in_any_encoding() -> None:
    assert parse_xml('<?xml version="1.0"?><a b="é">ü</a>'.encode("utf-16")).text == "ü"


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([PDF, *(make_zip(parts) for _, parts, _, _ in FILES)]), st.data())
def test_a_damaged_file_is_read_or_refused(content: bytes, data: st.DataObject) -> None:
    """Bytes changed, cut out and put in anywhere."""
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(damaged)))
        gone = data.draw(st.integers(0, 4))
        damaged[at : at + gone] = data.draw(st.binary(max_size=4))
    kind = "application/pdf" if content is PDF else "application/vnd.oasis.opendocument.text"

    try:
        page = read_document(FetchedPage("https://a.test/", bytes(damaged), kind))
    except Unreadable as refused:
        page = None
        said = str(refused)
        assert said

    assert page is None or page.html.startswith("<!DOCTYPE html><html>")


def make_mail(html: bool) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Lämps <now>"
    message["From"] = "Ann <ann@a.test>"
    message.set_content("One\n\nTwo & three\n")
    if html:
        message.add_alternative("<p>Rich <b>text</b></p>", subtype="html")
    return message.as_bytes()


def test_a_mail_is_converted_with_subject_and_text(read: Read) -> None:
    plain = read(make_mail(html=False), "message/rfc822")
    rich = read(make_mail(html=True), "message/rfc822")

    assert plain.title == "Lämps <now>"
    assert unescape(body(plain)) == "<h1>Lämps <now></h1><p>One</p><p>Two & three</p>"
    assert body(rich).endswith("<p>Rich <b>text</b></p>\n")
    assert 'name="from" content="Ann &lt;ann@a.test&gt;"' in plain.html


@settings(max_examples=examples(40), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_mail_or_refused(content: bytes) -> None:
    for head in (b"", b"Subject: x\n", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"):
        try:
            page = read_document(FetchedPage("https://a.test/", head + content, "message/rfc822"))
        except Unreadable:
            page = None
        assert page is None or page.file_type == "email"
