"""Control characters in values cannot affect the terminal."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.core.api import ENDPOINTS, Endpoint, RequestSpec
from svc_notebook.core.terminal import KEPT, escape_controls, warn_user
from svc_notebook.data.client import Client, ClientConfig, Progress, Secret
from svc_notebook.data.session import connection as connecting
from svc_notebook.errors import BadInput, NotFound, SvcError
from svc_notebook.faces import cli
from svc_notebook.faces.commands import command_client, execution
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.tokenizer import split_line
from tests.data.client import stub
from tests.data.client.stub import serving
from tests.faces.commands.test_wrong_answers import POLLS, Liar, answer_of
from tests.looping import loop_over

# It clears the screen, sets a title, hides what follows, writes backwards and rings.
EVIL = "\x1b[2J\x1b]0;pwned\x07\x9b8m\u202egpj.exe\u2066\r\x7f\x08"
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def assert_tame(*texts: str) -> None:
    assert not [found for text in texts for found in STEERING.findall(text)]


@given(text=st.text())
def test_only_control_characters_are_escaped(text: str) -> None:
    escaped = escape_controls(text)

    assert_tame(escaped)
    if not any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in set(text) - {*KEPT}):
        assert escaped == text


@given(value=st.text())
def test_json_keeps_its_meaning(value: str) -> None:
    assert json.loads(escape_controls(json.dumps({"a": value}, ensure_ascii=False))) == {"a": value}


# Members that have to be a time, a number, or something that was asked for.
KEPT_PLAIN = (
    "objectID", "status", "cursor", "createdAt", "updatedAt", "timestamp", "id", "answer_code",
    "processing_time_ms", "query_nb_hits", "nb_api_calls",
)  # fmt: skip


def poisoned(value: Any, key: str = "") -> Any:
    """Put control characters into every text and every name."""
    if isinstance(value, dict):
        told = {k: poisoned(v, k) for k, v in value.items()}
        texts = not told or any(isinstance(v, str) for v in told.values())
        return {**told, f"x{EVIL}": EVIL if texts else next(iter(told.values()))}
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    return f"{value}{EVIL}" if isinstance(value, str) and key not in KEPT_PLAIN else value


class Poisoner(Liar):
    """Answers as declared, with control characters in every text; a second one refuses all."""

    def __init__(self, *, refuses: bool) -> None:
        super().__init__()
        self.refuses = refuses

    async def send(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        if self.refuses and endpoint.name not in POLLS:
            raise NotFound(f"no index {EVIL}", status=404, endpoint=endpoint.name)
        answer = await super().send(endpoint, parcel)
        return answer if endpoint.name in POLLS else poisoned(answer)


def use(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give commands a client, whichever of the modules makes it."""
    for module in (command_client, connecting):
        monkeypatch.setattr(module, "make_client", lambda *_, **__: client)


# Verbs that serve, or start a service.
APART = ("serve", "interleave", "mcp", "local", "stop", "connect", "use")
LINES = [(verb.name, line) for verb in VERBS if verb.name not in APART for line in verb.examples]


@pytest.mark.filterwarnings("ignore:`color` is not among attributesForFaceting")
@pytest.mark.filterwarnings("ignore::svc_notebook.errors.UnknownAttributeWarning")
@pytest.mark.filterwarnings("ignore:the service accepted the call")
@pytest.mark.parametrize("form", ["table", "csv", "json", "refused"])
@loop_over("verb, line", LINES, sample=50)
def test_no_verb_prints_control_characters(
    verb: str, line: str, form: str, without_key_checks: None, output_terminal: None,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    standard_input: Callable[..., None],
) -> None:  # fmt: skip
    connection = ClientConfig(app_id="X", url="http://127.0.0.1:9", api_key=Secret("k"))
    client = Client(connection, Poisoner(refuses=form == "refused"))  # type: ignore[arg-type]
    use(client, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "products.csv").write_text(f'sku,name\n1,"{EVIL}"\n', newline="")
    words = [word.text for word in split_line(line)]
    found = next(row for row in VERBS if row.name == verb)
    words += ["--yes"] if found.destructive else []
    words += ["--format", form] if form != "refused" and "format" in found.named("command") else []
    standard_input(f"key{EVIL}\n".encode())

    cli.main(words)

    shown = capsys.readouterr()
    assert_tame(shown.out, shown.err)


def test_the_poison_is_shown_as_escapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or the test above would show nothing."""
    connection = ClientConfig(app_id="X", url="http://127.0.0.1:9", api_key=Secret("k"))
    client = Client(connection, Poisoner(refuses=False))  # type: ignore[arg-type]
    use(client, monkeypatch)
    shown = {}
    for words in (["search", "films"], ["logs"], ["indices"], ["keys"], ["rules", "films"]):
        assert cli.main(words) == 0
        shown[words[0]] = capsys.readouterr().out

    assert all("\\u001b[2J" in text for text in shown.values()), shown


def test_a_program_that_reads_csv_gets_what_is_stored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = ClientConfig(app_id="X", url="http://127.0.0.1:9", api_key=Secret("k"))
    client = Client(connection, Poisoner(refuses=False))  # type: ignore[arg-type]
    use(client, monkeypatch)

    assert cli.main(["search", "films", "--format", "csv"]) == 0

    assert EVIL.replace("\r", "") in capsys.readouterr().out.replace("\r", "")


def test_what_a_service_says_is_tame_in_errors_and_notes() -> None:
    with serving(stub.answer({"message": f"no {EVIL}"}, 404)) as server:
        client = Client(ClientConfig("APP", Secret("k"), url=server.url))
        with pytest.raises(SvcError) as caught:
            client.search("i")
    caught.value.add_note(EVIL)

    assert_tame(str(caught.value), *caught.value.__notes__, *caught.value._render_traceback_())


def test_what_was_typed_is_tame_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([f"sear{EVIL}"], ["search", "films", f"--{EVIL}"], ["load", EVIL, "films"]):
        cli.main(words)

    assert_tame(capsys.readouterr().err)


def test_warnings_bars_and_questions_are_tame(
    standard_input: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.warns(UserWarning, match="u001b") as warned:
        warn_user(EVIL)
    bar = Progress(3, label=EVIL, shown=True, clock=iter(range(100)).__next__)
    with bar:
        bar.update(1)
        bar.draw()
    told = re.sub(r"\x1b\[[AK]|\r", "", capsys.readouterr().err)  # the bar's own
    standard_input(b"n\n", terminal=True)
    execution.ask(f"drop {EVIL}? ", "command")

    assert_tame(str(warned[0].message), told, capsys.readouterr().err)


def test_every_error_class_is_tame() -> None:
    assert_tame(str(BadInput(EVIL)), str(svc.errors.MissingMember(EVIL)))
    assert str(BadInput()) == ""


def test_poison_reaches_every_endpoint() -> None:
    """What is answered has control characters in it, but for what is polled or has no text."""
    answers = [poisoned(answer_of(row)) for row in ENDPOINTS if answer_of(row)]

    assert all("gpj.exe" in str(answer) for answer in answers)
