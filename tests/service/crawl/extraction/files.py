"""Small files of many kinds, made byte by byte."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping


def make_zip(parts: Mapping[str, str | bytes]) -> bytes:
    """Pack an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def make_pdf(pages: list[list[str]], *, title: str = "", author: str = "") -> bytes:
    """Write a PDF file with one line of text below the other."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in lines)
        stream = zlib.compress(f"BT /F1 12 Tf 14 TL 72 700 Td {shown}ET".encode("latin-1"))
        objects += [
            f"<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * at} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            f"<< /Length {len(stream)} /Filter /FlateDecode >> stream\n".encode()
            + stream + b"\nendstream",
        ]  # fmt: skip
    objects.append(f"<< /Title ({title}) /Author ({author}) >>".encode("latin-1"))
    return with_table(objects)


def with_table(objects: list[bytes]) -> bytes:
    """Number objects, and say where each of them stands."""
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        body + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, rows)
        + b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (size, size - 1)
        + b"startxref\n%d\n%%%%EOF" % len(body)
    )  # fmt: skip


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = (
    '<cp:core xmlns:cp="x" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title> About lamps </dc:title></cp:core>"
)

DOCX = {
    "docProps/core.xml": CORE,
    "word/_rels/document.xml.rels": '<r><x Id="r1" Target="https://a.test/?a=1&amp;b=2"/></r>',
    "word/document.xml": f"""<w:document xmlns:w="{WORD}" xmlns:r="{RELATION}"><w:body>
      <w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Lamps</w:t></w:r></w:p>
      <w:p><w:r><w:t>Bright &lt;b&gt;</w:t></w:r><w:r><w:tab/><w:t>light</w:t></w:r>
        <w:hyperlink r:id="r1"><w:r><w:t>here</w:t></w:r></w:hyperlink></w:p><w:p/>
      <w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc>
        <w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
      </w:body></w:document>""",
}
XLSX = {
    "xl/workbook.xml": f'<w xmlns="{SHEET}" xmlns:r="{RELATION}"><sheets>'
    '<sheet name="Prices" r:id="r1"/></sheets></w>',
    "xl/_rels/workbook.xml.rels": '<r><x Id="r1" Target="worksheets/sheet1.xml"/></r>',
    "xl/sharedStrings.xml": f'<s xmlns="{SHEET}"><si><t>Lamp</t></si>'
    "<si><r><t>De</t></r><r><t>sk</t></r></si></s>",
    "xl/worksheets/sheet1.xml": f'<w xmlns="{SHEET}"><sheetData>'
    '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>99</v></c></row><row/>'
    '<row><c><v>12.5</v></c><c t="inlineStr"><is><t>in</t></is></c></row></sheetData></w>',
}
PPTX = {
    "ppt/presentation.xml": "<p/>",
    **{
        f"ppt/slides/slide{n}.xml": f'<p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}">'
        '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>'
        f"<a:p><a:r><a:t>Slide {n}</a:t></a:r></a:p></p:sp>"
        "<p:sp><a:p><a:r><a:t>Point</a:t></a:r></a:p></p:sp></p:sld>"
        for n in (10, 2)
    },
}
OPEN = (
    'xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:b="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:d="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    ' xmlns:l="http://www.w3.org/1999/xlink"'
)
ODT = {
    "meta.xml": CORE,
    "content.xml": f"""<o:d {OPEN}><o:body><o:text>
      <t:h t:outline-level="2">Lamps</t:h>
      <t:p>Bright<t:s/><t:span>light</t:span> <t:a l:href="/x">here</t:a> end</t:p>
      <b:table b:name="Prices"><b:table-row><b:table-cell><t:p>1</t:p></b:table-cell>
      <b:table-cell b:number-columns-repeated="2"><t:p>2</t:p></b:table-cell>
      <b:table-cell b:number-columns-repeated="999999999"/></b:table-row></b:table>
      <d:page><d:frame><d:text-box><t:p>Boxed</t:p></d:text-box></d:frame></d:page>
      </o:text></o:body></o:d>""",
}
