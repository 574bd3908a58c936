"""Files of XML, HTML, SQLite, Arrow, ORC, Avro and YAML, by what they contain."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, orc

from svc_notebook.data.loading import plan
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import values

ROWS = [{"sku": "007", "price": 1.5, "n": 1}, {"sku": "008", "price": 2.5, "n": 2}]
TABLE = pa.Table.from_pylist(ROWS)


def write_avro(path: Path) -> None:
    types = {"sku": "string", "price": "double", "n": "long"}
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, ROWS)


def write_arrow(path: Path, write: Callable[[Any, pa.Schema], Any]) -> None:
    with write(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE)


def write_sqlite(path: Path, *more: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE products (sku TEXT, price REAL, n INTEGER)")
        connection.executemany(
            "INSERT INTO products VALUES (?, ?, ?)", [tuple(row.values()) for row in ROWS]
        )
        for statement in more:
            connection.execute(statement)
        connection.commit()


WRITERS: dict[str, Callable[[Path], Any]] = {
    "arrow": lambda path: write_arrow(path, ipc.new_file),
    "stream": lambda path: write_arrow(path, ipc.new_stream),
    "feather": lambda path: feather.write_feather(TABLE, str(path)),
    "orc": lambda path: orc.write_table(TABLE, str(path)),
    "avro": write_avro,
    "sqlite": write_sqlite,
    "xml": lambda path: path.write_text(
        "<r>"
        + "".join("<row><sku>{sku}</sku><price>{price}</price><n>{n}</n></row>".format(**row)
                  for row in ROWS)
        + "</r>"
    ),
    "html": lambda path: path.write_text(
        "<html><table><tr><th>sku<th>price<th>n</tr>"
        + "".join("<tr>" + "".join(f"<td>{v}</td>" for v in row.values()) + "</tr>" for row in ROWS)
        + "</table></html>"
    ),
    "yaml": lambda path: path.write_text(
        "---\n- sku: '007'\n  price: 1.5\n  n: 1\n- sku: '008'\n  price: 2.5\n  n: 2\n"
    ),
}  # fmt: skip


@pytest.mark.sampled(quick=3)
@pytest.mark.parametrize("name", ["t", "t.csv", "t.xls"])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_is_read_by_what_it_contains(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / name
    WRITERS[kind](path)

    assert values(str(path)) == ROWS


FEED = """<?xml version="1.0"?>
<!DOCTYPE rss [<!ENTITY secret SYSTEM "file:///etc/hostname">]>
<rss xmlns:g="http://x/g" xmlns:m="http://x/m"><channel><title>Shop</title>
<item><title>A &amp; B</title><m:title>other</m:title><g:image>1</g:image><g:image>2</g:image>
<g:price>1.50</g:price><text>&secret;</text></item>
<item><title>C</title><d>an <b>old</b> lamp</d><g:image>3</g:image><g:price>2</g:price>
<g:tax rate="7"><c>DE</c></g:tax></item>
</channel></rss>"""


@pytest.mark.slow
def test_repeated_elements_are_lists_and_entities_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    path.write_text(FEED, encoding="utf-8")

    assert values(str(path)) == [
        {"title": "A & B", "m:title": "other", "image": ["1", "2"], "price": 1.5},
        {
            "title": "C",
            "d": "an old lamp",
            "image": ["3"],
            "price": 2,
            "tax": {"rate": "7", "c": "DE"},
        },
    ]
    assert "each row is an element `rss.channel.item`" in plan(str(path), "x").notes


def test_other_elements_are_named_and_loaded_by_their_path(tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    users = "".join(f"<user><name>u{n}</name></user>" for n in range(2))
    path.write_text(f"<db><users>{users}</users>" + "<p><sku>1</sku></p>" * 3 + "</db>")

    assert values(str(path)) == [{"sku": 1}] * 3
    assert "path='db.users.user' loads others" in plan(str(path), "x").notes[0]
    assert values(str(path), path="db.users.user") == [{"name": "u0"}, {"name": "u1"}]
    with pytest.raises(BadInput, match=r"did you mean `db\.users\.user`"):
        plan(str(path), "x", path="db.users.use")


@pytest.mark.parametrize(
    "text",
    [
        '<urlset xmlns="u"><url><loc>http://x/a,b</loc></url><url><loc>http://x/c</loc></url></urlset>',
        "<f><entry><loc>http://x/a,b</loc></entry><entry><loc>http://x/c</loc></entry></f>",
    ],
    ids=["sitemap", "feed"],
)  # fmt: skip
def test_a_sitemap_has_a_row_for_each_page(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_text(text)

    assert values(str(path)) == [{"loc": "http://x/a,b"}, {"loc": "http://x/c"}]


@pytest.mark.parametrize(
    "text", ["<r><a><b>1</b></a><a>", "<r><a>&b;</a></r><r>", "<r>text</r>"],
    ids=["cut", "two roots", "no records"],
)  # fmt: skip
def test_xml_without_records_or_that_is_broken_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.xml"
    path.write_text(f'<?xml version="1.0"?>{text}')

    with pytest.raises(BadInput, match=r"t\.xml (is not valid XML|has no elements)"):
        plan(str(path), "x")


def test_the_largest_table_of_a_page_is_read_with_its_spans(tmp_path: Path) -> None:
    path = tmp_path / "page.xls"
    path.write_bytes(
        b"<html><head><meta charset='iso-8859-1'><script>'<table>'</script></head><body>"
        b"<table><tr><td>menu</td></tr><tr><td>x</td></tr></table><table><thead>"
        b"<tr><th rowspan=2>Gr\xf6\xdfe<th colspan=2>Price</tr><tr><th>net<th>gross</tr></thead>"
        b"<tr><td rowspan=2>S<td>1.50<td>2</tr><tr><td>3<br>4<td><script>x</script>5</tr>"
        b"</table></body></html>"
    )

    assert values(str(path)) == [
        {"Größe": "S", "Price net": "1.50", "Price gross": 2},
        {"Größe": "S", "Price net": "3 4", "Price gross": 5},
    ]
    assert "table 2 of 2 of the page is read; path='1' loads another" in plan(str(path), "x").notes


def test_cells_of_a_head_without_a_row_name_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<TABLE><THEAD><th>id</th><th>name</th></THEAD><tr><td>1</td><td>Ann</td></tr>"
        "<tr><td>2</td><td>Bo</td></tr></TABLE>"
    )

    assert values(str(path)) == [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bo"}]


def test_a_title_over_the_columns_of_a_page_is_left_out_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    rows = "".join(f"<tr><td>Town {n}<td>{n}.5<td>{n * 2}" for n in range(3))
    title = "<table><thead><tr><th colspan=2>Births</tr></thead>"
    names = "<tr><td><td>Rate<td>Number"

    for head in (f"{title}<tbody>{names}", f"{title}{names.replace('td', 'th')}"):
        path.write_text(f"{head}{rows}</table>")
        assert values(str(path))[1] == {"column0": "Town 1", "Rate": 1.5, "Number": 2}
        assert "the title of the table left out: `Births`" in plan(str(path), "x").notes

    path.write_text("<table><tr><th colspan=2>Facts<tr><td>Area<td>5<tr><td>Depth<td>7</table>")
    assert values(str(path)) == [{"Facts": "Area", "Facts_2": 5}, {"Facts": "Depth", "Facts_2": 7}]


def test_a_superscript_is_no_digit_of_the_number_before_it(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<table><tr><th>Area in km<sup>2</sup><th>Rate 1996<sup>1</sup><th>Place"
        "<tr><td>7<td>12.5<sup>3</sup><td>Angus<sup>a</sup>"
        "<tr><td>8<td>10<sup>-3</sup><td>Fife</table>"
    )

    assert values(str(path)) == [
        {"Area in km2": 7, "Rate 1996^1": "12.5^3", "Place": "Angusa"},
        {"Area in km2": 8, "Rate 1996^1": "10^-3", "Place": "Fife"},
    ]


def test_a_page_without_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.csv"
    path.write_text("<!DOCTYPE html>\n<html><body><p>hello</p></body></html>")

    with pytest.raises(BadInput, match="is an HTML page without a table"):
        plan(str(path), "x")


def test_a_workbook_in_xml_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.xls"
    path.write_text(
        '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>'
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
        'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="S"><Table>'
        "<Row><Cell><Data>sku</Data></Cell><Cell><Data>a</Data></Cell><Cell><Data>b</Data></Cell></Row>"
        '<Row><Cell><Data>x</Data></Cell><Cell ss:Index="3"><Data>2.5</Data></Cell></Row>'
        "</Table></Worksheet></Workbook>"
    )

    assert values(str(path)) == [{"sku": "x", "b": 2.5}]


def test_a_database_of_several_tables_asks_for_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    write_sqlite(path, "CREATE TABLE tags (t TEXT)", "INSERT INTO tags VALUES ('a')",
                 "CREATE VIEW cheap AS SELECT sku FROM products WHERE price < 2")  # fmt: skip

    with pytest.raises(BadInput, match="2 tables: `products`, `tags`; name one: sheet='products'"):
        plan(str(path), "x")
    assert values(str(path), sheet="tags") == [{"t": "a"}]
    assert values(str(path), sheet="cheap") == [{"sku": "007"}]
    with pytest.raises(BadInput, match="no table `tag`; did you mean `tags`"):
        plan(str(path), "x", sheet="tag")


def test_yaml_is_read_by_the_rules_of_json(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("items:\n  - {a: 1, day: 2024-01-02}\n  - {a: 2}\ntotal: 2\n")
    assert values(str(path)) == [{"a": 1, "day": "2024-01-02"}, {"a": 2}]

    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match="repeats its parts by references too often"):
        plan(str(path), "x")

    path.write_text("a: [1\nb: 2")
    with pytest.raises(BadInput, match=r"t\.yaml is not valid YAML"):
        plan(str(path), "x")


@pytest.mark.parametrize(
    ("kind", "module"), [("xml", "lxml"), ("html", "lxml"), ("avro", "fastavro"), ("yaml", "yaml")]
)
def test_a_missing_package_is_named(
    tmp_path: Path, kind: str, module: str, without_package: Callable[..., None]
) -> None:
    path = tmp_path / "t"
    WRITERS[kind](path)
    without_package(module)

    with pytest.raises(BadInput, match=r'pip install "svc-notebook\[formats\]"'):
        plan(str(path), "x")


@pytest.mark.parametrize("kind", ["arrow", "orc", "avro", "sqlite"])
def test_a_damaged_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.csv"
    WRITERS[kind](path)
    path.write_bytes(path.read_bytes()[:40])

    with pytest.raises(BadInput, match=r"t\.csv cannot be read: "):
        plan(str(path), "x")
