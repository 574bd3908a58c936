"""A process ends, whatever it leaves open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Running
from tests.first_minutes.processes import run_fresh

CONNECT = "import svc_notebook as svc\nsvc.connect(url={url!r}, app_id={app!r}, api_key={key!r})\n"


@pytest.mark.parametrize("kind", ["query", "settings", "workbench", "judgments"])
@pytest.mark.parametrize("close", ["editor.close()", "pass", "del editor"])
@pytest.mark.sampled(2)
def test_a_process_with_an_editor_ends(
    kind: str, close: str, service: Running, tmp_path: Path
) -> None:
    connect = CONNECT.format(url=service.url, app=service.appId, key=service.adminKey)
    rows = "[{'objectID': '1', 'name': 'lamp'}]"
    index = f"exit-{kind}"

    run_fresh(
        f"{connect}svc.push({rows}, {index!r}, progress=False)\n"
        f"editor = svc.edit.{kind}({index!r})\n{close}\n",
        tmp_path,
    )


def test_a_call_while_python_ends_is_an_error(service: Running, tmp_path: Path) -> None:
    connect = CONNECT.format(url=service.url, app=service.appId, key=service.adminKey)
    late = (
        "class Late:\n"
        "    def __init__(self): self.search, self.print = svc.search, print\n"
        "    def __del__(self):\n"
        "        try: self.search('products')\n"
        "        except Exception as error: self.print(error)\n"
        "import builtins; builtins.late = Late()\n"
    )

    assert "Python is ending" in run_fresh(connect + late, tmp_path)
