"""The README's code runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
SHOWN = "\nprint(svc.search('products', 'desk lmap', filters='price < 50').to_csv(index=False))\n"


def test_the_first_example_finds_the_lamp(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    rows = ["sku,name,price", "1,Desk lamp,39.5", "2,Desk lamp of gold,390.0", "3,Desk,49.0"]
    (tmp_path / "products.csv").write_text("\n".join(rows), encoding="utf-8")
    homes = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + SHOWN],
        cwd=tmp_path,
        env={**os.environ, **homes},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["rank,objectID,sku,name,price", "1,1,1,Desk", "lamp,39.5"]
