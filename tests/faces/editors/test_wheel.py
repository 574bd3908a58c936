"""The built wheel, installed outside this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Running

OPEN = """
import svc_notebook as svc
from svc_notebook.faces import editors
from svc_notebook.faces.editors import bundle

assert str(bundle.FOLDER).startswith({site!r}), bundle.FOLDER
client = svc.connect(
    url={url!r}, app_id={app_id!r}, api_key={key!r},
    crawler_user_id={user!r}, crawler_api_key={password!r},
)
action = {{
    "indexName": "wheel",
    "pathsToMatch": ["**"],
    "recordExtractor": {{"__type": "function", "source": "() => []"}},
}}
client.create_crawler("wheel", {{"rateLimit": 1, "startUrls": [], "actions": [action]}})
client.replace_all("wheel", [{{"objectID": "1", "name": "lamp"}}])
for name in editors.__all__:
    editor = getattr(svc.edit, name)("wheel")
    assert len(editor._esm) > 1000 and ".svc-editor" in editor._css, name
print("opened", *editors.__all__)
"""


@pytest.mark.slow
def test_every_editor_opens_from_the_wheel(tmp_path: Path, service: Running) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*install, "--target", str(site), str(wheel)], check=True)
    code = OPEN.format(
        site=str(site), url=service.url, app_id=service.appId, key=service.adminKey,
        user=service.crawlerUserId, password=service.crawlerApiKey,
    )  # fmt: skip

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("opened")
