"""Each editor in a saved notebook, without a kernel, as nbconvert renders it."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import mistune
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Running

PIN = {"promote": [{"objectID": "1", "position": 0}]}
RULE: Any = {
    "objectID": "lamps",
    "conditions": [{"pattern": "lamp", "anchoring": "is"}],
    "validity": [{"from": 1_796_083_200}],
    "consequence": PIN,
}
SYNONYM: Any = {"objectID": "lights", "type": "synonym", "synonyms": ["lamp", "light"]}

# A blank line would end the HTML in Markdown.
SOURCE = "function extract({$}) {\n\n    return [{a: 2 * 3 * 4}]\n}"
EXTRACTOR = {"__type": "function", "source": SOURCE}
ACTION = {"indexName": "pages", "pathsToMatch": ["http://x/**"], "recordExtractor": EXTRACTOR}
CRAWLER: Any = {"rateLimit": 5, "startUrls": ["http://x/"], "actions": [ACTION]}


class Text(HTMLParser):
    """The visible text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.hidden += tag in ("script", "style", "title")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style", "title")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


@pytest.fixture
def editors(client: Client, shop: str, service: Running) -> Iterator[dict[str, Any]]:
    """Every editor, by a text of its last state."""
    client.wait(client.save_rules(shop, [RULE]), index=shop)
    client.wait(client.save_synonyms(shop, [SYNONYM]), index=shop)
    open_editor: Any = {"client": client}
    crawling = Client(
        ClientConfig(
            url=service.url, app_id=service.appId, api_key=Secret(service.adminKey),
            crawler_user_id=service.crawlerUserId, crawler_api_key=Secret(service.crawlerApiKey),
        )
    )  # fmt: skip
    crawling.create_crawler(shop, CRAWLER)
    yield {
        SOURCE: svc.edit.crawler(shop, client=crawling),
        "blue lamp": svc.edit.query(shop, "blue lamp", **open_editor),
        "customRanking": svc.edit.settings(shop, **open_editor),
        "lights": svc.edit.synonyms(shop, **open_editor),
        "scheduled": svc.edit.rules(shop, **open_editor),
        "0 judgments": svc.edit.judgments(shop, ["lamp"], rater="ada", **open_editor),
        "oak table": svc.edit(shop, "oak table", **open_editor),
    }
    crawling.close()


def save(editor: Any) -> Any:
    """A notebook whose cell shows the editor, without the state of widgets."""
    from nbformat import v4

    InteractiveShell.instance()
    with capture_output() as captured:
        editor._ipython_display_()
    outputs = [
        v4.new_output("display_data", data=output.data, metadata=output.metadata or {})
        for output in captured.outputs
    ]
    cell = v4.new_code_cell("svc.edit(...)", outputs=outputs)
    return v4.new_notebook(cells=[cell])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_editor_is_rendered_without_a_kernel(editors: dict[str, Any]) -> None:
    from nbconvert import HTMLExporter, MarkdownExporter

    for words, editor in editors.items():
        notebook = save(editor)

        html, _ = HTMLExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
        markdown, _ = MarkdownExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]

        for rendered in ("".join(Text(page).parts) for page in (html, str(mistune.html(markdown)))):
            assert words in rendered, editor
            assert rendered.count(f"{editor.title}: ") == 1, editor
            assert "Loading widget" not in rendered
            assert "model not found" not in rendered
        assert "<table" in html, editor
