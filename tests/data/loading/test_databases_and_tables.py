"""Rows of real databases, and tables of Delta, with their types."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import deltalake
import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy as sa

from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

PROGRAMS = Path("/usr/lib/postgresql")
TABLE = """
CREATE TABLE products (
    sku text PRIMARY KEY, name varchar(40), price numeric(8, 2), stock integer, tags text[],
    made date, changed timestamptz, active boolean, extra jsonb, code uuid
);
INSERT INTO products VALUES
    ('007', 'Lamp', 12.50, 3, '{a,b}', '2024-01-02', '2024-01-02 10:00:00+00', true,
     '{"w": 3}', '0a0a0a0a-0000-4000-8000-000000000001'),
    ('008', 'Tisch, groß', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[sa.Engine]:
    """A server of PostgreSQL of its own; it refuses to run as root."""
    programs = next(iter(sorted(PROGRAMS.glob("*/bin"), reverse=True)), None)
    if programs is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("PostgreSQL is missing: apt-get install postgresql")
        pytest.skip("PostgreSQL is not installed")
    folder = Path(mkdtemp(prefix="svc-postgres-", dir="/tmp"))
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, user=user)

    try:
        run("initdb", "--auth=trust", "--username=svc", "--no-sync", "--encoding=UTF8")
        run("pg_ctl", "start", "-w", "-o", f"-c listen_addresses= -k {folder}", "-l", "log")
        engine = sa.create_engine(f"postgresql+psycopg://svc@/postgres?host={folder}")
        with engine.begin() as connection:
            connection.execute(sa.text(TABLE))
        yield engine
        engine.dispose()
        run("pg_ctl", "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
def test_rows_of_postgres_have_their_types(postgres: sa.Engine) -> None:
    with postgres.connect() as connection:
        frame = pd.read_sql("SELECT * FROM products ORDER BY sku", connection)
        by_frame = pack(frame, id="sku").records
        by_rows = pack(connection.execute(sa.text("SELECT * FROM products ORDER BY sku")),
                       id="sku").records  # fmt: skip

    assert by_frame[0] == {
        "objectID": "007", "sku": "007", "name": "Lamp", "price": 12.5, "stock": 3,
        "tags": ["a", "b"], "made": "2024-01-02", "changed": "2024-01-02T10:00:00Z",
        "active": True, "extra": {"w": 3}, "code": "0a0a0a0a-0000-4000-8000-000000000001",
    }  # fmt: skip
    assert by_frame[1] == {"objectID": "008", "sku": "008", "name": "Tisch, groß"}
    assert by_rows == by_frame


def test_a_connection_to_a_database_is_refused_with_advice() -> None:
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        sources: list[Any] = [engine, connection]
        for source in sources:
            with pytest.raises(BadInput, match=r"pass those of a query: svc.load\(pandas.read_sql"):
                pack(source)
    engine.dispose()  # or its connection stays open


def test_a_table_of_delta_has_its_current_rows_only(tmp_path: Path) -> None:
    rows = [{"id": "a", "n": 1, "k": "x"}, {"id": "b", "n": 2, "k": "y"}]
    deltalake.write_deltalake(tmp_path, pa.Table.from_pylist(rows), partition_by=["k"])
    table = deltalake.DeltaTable(tmp_path)
    table.delete("id = 'b'")

    assert values(table) == rows[:1]
    with pytest.raises(BadInput, match=r"table of Delta, whose files include deleted rows"):
        pack(str(tmp_path))


def test_the_folder_of_a_table_of_iceberg_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "00000-a.metadata.json").write_text("{}")
    (tmp_path / "data").mkdir()
    pd.DataFrame({"id": ["a"]}).to_parquet(tmp_path / "data" / "1.parquet")

    with pytest.raises(BadInput, match="table of Iceberg, whose files include deleted rows"):
        pack(str(tmp_path))
