"""The `svc` command, as a process."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from svc_notebook.faces.cli import main
from svc_notebook.faces.commands.registry import VERBS
from tests.conftest import ROOT, Running
from tests.looping import loop_over

COMMAND = [sys.executable, "-m", "svc_notebook"]
FORMATS = ["table", "csv", "json"]
ROWS = "sku,name,price\n007,blue lamp,12.5\n008,red lamp,9\n009,desk,120\n"
FAMILIES = {verb.family for verb in VERBS if "command" in verb.faces}
Done = subprocess.CompletedProcess[str]
Svc = Callable[..., Done]


def environment(**values: str) -> dict[str, str]:
    """The surroundings of a user who has configured only these values."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return own | {"PYTHONPATH": str(ROOT), "SVC_CONFIG": "/nowhere/config.toml"} | values


def svc(*words: str, given: str = "", **values: str) -> Done:
    """Run the command to its end, away from any terminal."""
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=False, timeout=50,
        env=environment(**values), input=given, start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def address(service: Running, tmp_path: Path) -> dict[str, str]:
    """What connects the command to the service."""
    return {
        "SVC_URL": service.url, "SVC_APP_ID": service.appId, "SVC_API_KEY": service.adminKey,
        "XDG_STATE_HOME": str(tmp_path),
    }  # fmt: skip


@pytest.fixture
def connected(address: dict[str, str]) -> Svc:
    """The command, connected to the service."""
    return lambda *words, given="": svc(*words, given=given, **address)


@pytest.fixture
def stocked(service: Running) -> str:
    """An index that holds such a table already."""
    _, *rows = (line.split(",") for line in ROWS.splitlines())
    records = [{"objectID": sku, "name": name, "price": float(price)} for sku, name, price in rows]
    requests = [{"action": "addObject", "body": record} for record in records]
    index = f"cli-{uuid4().hex[:8]}"
    with service.client() as client:
        task = client.post(f"/1/indexes/{index}/batch", json={"requests": requests}).json()
        while client.get(f"/1/task/{task['taskID']}").json()["status"] != "published":
            time.sleep(0.01)
    return index


@pytest.fixture
def lamps(tmp_path: Path) -> str:
    """A small table."""
    path = tmp_path / "lamps.csv"
    path.write_text(ROWS)
    return str(path)


def test_help_lists_the_verbs_and_succeeds() -> None:
    done = svc("--help")

    assert done.returncode == 0
    assert "load " in done.stdout
    assert done.stderr == ""


def test_no_verb_is_misuse() -> None:
    assert svc().returncode == 2


def test_help_of_a_verb_lists_its_parameters() -> None:
    done = svc("load", "--help")

    assert done.returncode == 0
    assert "svc load SOURCE INDEX" in done.stdout
    assert "--if-exists append|replace|fail|merge" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["laod"], "svc: `laod` is not a verb; did you mean `load`?"),
        (["load", "a.csv"], "svc: INDEX is missing; usage: svc load SOURCE INDEX [options]"),
        (["load", "a.csv", "x", "--bach", "3"], "did you mean `--batch`?"),
        (["connect", "local"], "`connect` is available only in notebooks"),
        (["tasks", "--profile", "local"], "`tasks` requires a subcommand: show, wait"),
        # These list their items without a subcommand.
        (["crawlers", ""], "`crawlers ''` is not a verb; the verbs are cancel, config, "),
        (["sources", ""], "`sources ''` is not a verb; the verbs are add, delete, replace"),
    ],
)
def test_misuse_is_printed_to_stderr_with_status_2(words: list[str], message: str) -> None:
    done = svc(*words)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_version_is_printed() -> None:
    assert svc("--version").stdout.startswith("svc-notebook ")


@pytest.mark.slow
def test_a_file_is_loaded_and_found(connected: Svc, lamps: str) -> None:
    loaded = connected("load", lamps, "cli-lamps", "--id", "sku")

    found = connected("search", "cli-lamps", "lmap", "--format", "json")

    assert (loaded.returncode, loaded.stderr) == (0, "")
    assert "3 published, 0 rejected" in loaded.stdout
    assert [hit["objectID"] for hit in json.loads(found.stdout)] == ["007", "008"]


@pytest.mark.slow
def test_a_load_that_leaves_rows_out_fails(connected: Svc, tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text(f"{ROWS}007,again,1\n")

    loaded = connected("load", str(path), "cli-twice", "--id", "sku")

    assert loaded.returncode == 1
    assert "rejected" in loaded.stdout


@pytest.mark.slow
def test_a_header_that_cannot_be_read_is_a_failure(connected: Svc, tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_text('id,"name,x\n1,a,b\n2,c,d\n')

    loaded = connected("load", str(path), "cli-broken")

    assert loaded.returncode == 1
    assert "the header has an unclosed quote" in loaded.stderr


@pytest.mark.slow
def test_a_dry_run_shows_the_plan_and_sends_nothing(connected: Svc, lamps: str) -> None:
    planned = connected("load", lamps, "cli-planned", "--id", "sku", "--dry-run")

    assert planned.returncode == 0
    assert "price" in planned.stdout
    assert connected("search", "cli-planned").returncode == 1


@pytest.mark.slow
def test_an_index_that_exists_can_be_refused(connected: Svc, lamps: str, stocked: str) -> None:
    again = connected("load", lamps, stocked, "--id", "sku", "--if-exists", "fail")

    assert again.returncode == 1
    assert stocked in again.stderr


@pytest.mark.slow
def test_results_come_as_table_csv_or_json(connected: Svc, stocked: str) -> None:
    words = ["get", stocked, "009", "--columns", "name"]

    table, csv, text = (connected(*words, "--format", form).stdout for form in FORMATS)

    assert table.split() == ["objectID", "name", "009", "desk"]
    assert csv == "objectID,name\n009,desk\n"
    assert json.loads(text) == [{"objectID": "009", "name": "desk"}]


@pytest.mark.slow
def test_settings_are_changed_and_shown(connected: Svc, stocked: str) -> None:
    changed = connected("settings", stocked, "--hitsPerPage", "7", "--format", "csv")

    assert changed.stdout == "setting,before,after\nhitsPerPage,20,7\n"


@pytest.mark.slow
def test_whoami_describes_the_client(connected: Svc, service: Running) -> None:
    told = json.loads(connected("whoami", "--format", "json").stdout)

    assert told["application"] == service.appId
    assert "admin" in told["rights"] or "addObject" in told["rights"]
    assert service.adminKey not in str(told)


@pytest.mark.slow
def test_a_search_key_knows_its_rights(address: dict[str, str], service: Running) -> None:
    told = svc("whoami", "--format", "json", **address | {"SVC_API_KEY": service.searchKey})

    assert json.loads(told.stdout)["rights"] == ["search"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["search", "no-such-index"], "svc: Index no-such-index does not exist"),
        (["load", "no-such-file.csv", "x"], "no-such-file.csv"),
        (["browse", "x", "--profile", "nowhere"], "there is no profile `nowhere`"),
    ],
)
def test_failure_is_printed_to_stderr_with_status_1(
    connected: Svc, words: list[str], message: str
) -> None:
    done = connected(*words)

    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


VERBS_HERE = sorted({v.name for v in VERBS if "command" in v.faces} | FAMILIES)


@loop_over("name, flag", itertools.product(VERBS_HERE, ["-h", "--help"]))
def test_every_verb_and_family_has_help(
    capsys: pytest.CaptureFixture[str], name: str, flag: str
) -> None:
    status = main([*name.split(), flag])
    shown = capsys.readouterr()
    asked = main(["help", *name.split()])

    assert (status, asked, shown.err) == (0, 0, "")
    assert name.split()[0] in shown.out
    assert shown.out == capsys.readouterr().out


@pytest.mark.parametrize("words", [["serve", "--help"], ["serve", "-h"], ["--version"], ["help"]])
def test_help_and_version_are_printed_by_the_process(words: list[str]) -> None:
    done = svc(*words)

    assert (done.returncode, done.stderr) == (0, "")
    assert "serve" in done.stdout or done.stdout.startswith("svc-notebook ")


def test_error_without_a_connection_says_what_to_type(tmp_path: Path) -> None:
    done = svc("indices", XDG_DATA_HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path))

    assert done.returncode == 1
    assert "--profile" in done.stderr


def test_closed_pipe_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "w") as nobody:
        done = subprocess.run(
            [*COMMAND, "help", "search"], stdout=nobody, stderr=subprocess.PIPE, text=True,
            check=False, env=environment(),
        )  # fmt: skip

    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("words", [["indices"], ["browse", "INDEX", "--format", "json"]])
def test_output_that_cannot_be_written_is_reported(
    address: dict[str, str], stocked: str, words: list[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *(stocked if word == "INDEX" else word for word in words)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env=environment(**address),
        )  # fmt: skip

    written = "svc: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, written)


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell closes streams")
@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(address: dict[str, str], stocked: str, streams: str) -> None:
    line = f"{shlex.join([*COMMAND, 'search', stocked, 'lamp'])} {streams}"

    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False, env=environment(**address)
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert ("blue lamp" in done.stdout) == (streams == "2>&-")


@pytest.mark.parametrize(
    "words",
    [["export", "INDEX", "-"], ["rules", "export", "INDEX", "-"], ["pull-config", "-", "INDEX"]],
)
def test_standard_input_is_no_file_to_write(connected: Svc, stocked: str, words: list[str]) -> None:
    done = connected(*(stocked if word == "INDEX" else word for word in words), given="a\n1\n")

    assert done.returncode == 2
    assert "cannot be `-`, which is standard input: give a path" in done.stderr


@pytest.mark.slow
def test_stopped_load_reports_what_was_sent(
    service: Running, address: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "many.csv"
    path.write_text("id,text\n" + "".join(f"{n},word{n % 977}\n" for n in range(300_000)))
    process = subprocess.Popen(
        [*COMMAND, "load", str(path), "cli-stopped", "--id", "id", "--batch", "500"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**address),
    )  # fmt: skip
    with service.client() as client:
        while client.get("/1/indexes/cli-stopped/settings").status_code != 200:
            time.sleep(0.02)

    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "rows were sent to cli-stopped" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_serve_prints_its_address_and_stops_cleanly(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "serve", "--json", "--data", str(tmp_path / "data")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert process.stdout
    told = json.loads(process.stdout.readline())

    shown = svc(
        "indices", SVC_URL=told["url"], SVC_APP_ID=told["appId"], SVC_API_KEY=told["adminKey"]
    )
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)

    assert told.keys() == {
        "url", "appId", "adminKey", "searchKey", "crawlerUserId", "crawlerApiKey", "pid",
    }  # fmt: skip
    assert shown.returncode == 0
    assert (process.returncode, errors) == (0, "")


@pytest.mark.slow
def test_the_local_service_is_stopped_by_its_folder(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "serve", "--json", "--data", str(tmp_path)],
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert process.stdout
    process.stdout.readline()

    stopped = svc("stop", "--data", str(tmp_path))
    again = svc("stop", "--data", str(tmp_path))

    assert (stopped.returncode, process.wait(20)) == (0, 0)
    process.stdout.close()
    assert (again.returncode, again.stderr) == (1, f"svc: no local service runs on {tmp_path}\n")


@pytest.mark.slow
def test_a_profile_is_used_by_its_name(
    connected: Svc, service: Running, stocked: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        f'[profiles.shop]\nurl = "{service.url}"\napp_id = "{service.appId}"\n'
        f'api_key = "{service.adminKey}"\n'
    )

    listed = svc("profiles", "--format", "json", SVC_CONFIG=str(path))
    found = svc("get", stocked, "009", "--profile", "shop", SVC_CONFIG=str(path))

    assert json.loads(listed.stdout) == {"local": "built in", "shop": str(path)}
    assert "desk" in found.stdout


@pytest.mark.slow
def test_refused_load_reports_what_was_sent(address: dict[str, str], lamps: str) -> None:
    done = svc("load", lamps, "cli-refused", **(address | {"SVC_API_KEY": "wrong"}))

    assert done.returncode == 1
    assert "0 of 3 rows were sent" in done.stderr


@pytest.mark.slow
def test_synonyms_go_out_and_in_again(connected: Svc, tmp_path: Path) -> None:
    path, back = tmp_path / "synonyms.csv", tmp_path / "back.csv"
    path.write_text('objectID,type,synonyms\npair,synonym,"lamp, light"\n')

    saved = connected("synonyms", "save", "cli-curated", str(path), "--format", "json")
    asked = connected("synonyms", "replace", "cli-curated", str(path))
    done = connected("synonyms", "replace", "cli-curated", str(path), "--yes")
    connected("synonyms", "export", "cli-curated", str(back))

    assert json.loads(saved.stdout)["after"] == 1
    assert (asked.returncode, done.returncode) == (2, 0)
    assert "replace all synonyms of cli-curated" in asked.stderr
    assert back.read_text() == 'objectID,type,synonyms\npair,synonym,"[""lamp"",""light""]"\n'


@pytest.mark.slow
def test_a_warning_is_one_line(connected: Svc, stocked: str) -> None:
    done = connected("search", stocked, "lamp", "--filters", "name:x")

    [line] = done.stderr.splitlines()
    assert line.startswith(f"svc: no hits in {stocked}: the filter name:x excludes all 2 hits")
    assert f"`name` is not among attributesForFaceting of {stocked}" in line


@pytest.mark.slow
def test_rows_that_cannot_be_sent_are_listed(connected: Svc, tmp_path: Path) -> None:
    twice = tmp_path / "twice.csv"
    twice.write_text("sku,name\n1,lamp\n1,desk\n")

    done = connected("load", str(twice), "cli-twice", "--id", "sku")
    numbers = connected("load", str(twice), "cli-twice", "--id", "sku", "--format", "json")

    assert done.returncode == numbers.returncode == 1
    assert "duplicate objectID (same as row 1)" in done.stdout
    assert json.loads(numbers.stdout)["rejected_rows"] == 1


@pytest.mark.slow
def test_command_help_does_not_mention_variables() -> None:
    assert "--from" not in svc("help", "replace").stdout
    assert "is available only in notebooks" in svc("edit", "query", "x").stderr


@pytest.mark.slow
def test_what_is_missing_is_left_blank(connected: Svc, stocked: str) -> None:
    done = connected("multi-search", stocked, "lamp", "nowhere")

    assert "nowhere" in done.stdout
    assert not {"None", "NaN", "<NA>"} & set(done.stdout.split())


@pytest.mark.slow
def test_ids_that_do_not_exist_are_named(connected: Svc, stocked: str) -> None:
    done = connected("get", stocked, "007", "nowhere")

    assert "nowhere" not in done.stdout
    assert "1 of 2 ids is not in" in done.stderr


@pytest.mark.slow
def test_key_is_printed_only_on_request(connected: Svc) -> None:
    hidden = connected("keys", "add", "--acl", "search", "--format", "json")
    shown = connected("keys", "add", "--acl", "search", "--reveal", "--format", "json")
    key = json.loads(shown.stdout)["key"]

    assert json.loads(hidden.stdout)["key"] == "Secret(...)"
    assert "pass --reveal to show them" in hidden.stderr
    assert (len(key), shown.stderr) == (32, "")


@pytest.mark.usefixtures("output_terminal")
def test_a_terminal_shows_a_new_key_once(
    address: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in address.items():
        monkeypatch.setenv(name, value)

    assert main(["keys", "add", "--acl", "search", "--validity", "7d"]) == 0
    added = capsys.readouterr()
    assert main(["keys"]) == 0
    listed = capsys.readouterr()

    key = added.out.split()[1]
    assert len(key) == 32
    assert "this key is shown once" in added.err
    assert key not in listed.out
    assert "masked" in listed.err


@pytest.mark.slow
def test_a_csv_with_lists_says_how_it_is_loaded_back(connected: Svc, tmp_path: Path) -> None:
    source, table, back = (tmp_path / name for name in ("tags.ndjson", "tags.csv", "back.ndjson"))
    text = '{"objectID":"1","size":{"w":1},"tags":["a","b"],"zip":"01234"}\n'
    source.write_text(text)
    connected("load", str(source), "cli-tags")

    exported = connected("export", "cli-tags", str(table))
    line = exported.stdout.partition("`svc ")[2].partition("`")[0]
    loaded = connected(*shlex.split(line.replace("INDEX", "cli-back")))
    connected("export", "cli-back", str(back))

    assert "lists and objects are JSON texts" in exported.stdout
    assert loaded.returncode == 0, line
    assert json.loads(back.read_text()) == json.loads(text)


@pytest.mark.slow
def test_a_deleted_key_is_printed_to_be_restored(connected: Svc) -> None:
    shown = connected("keys", "add", "--acl", "search", "--reveal", "--format", "json")
    key = json.loads(shown.stdout)["key"]

    gone = connected("keys", "delete", key[:12], "--yes", "--format", "json")
    back = connected("keys", "restore", "-", given=f"{key}\n")

    assert (json.loads(gone.stdout)["key"], back.returncode) == (key, 0)
    assert key not in back.stdout + back.stderr


def test_hits_are_shown_as_text(connected: Svc, stocked: str) -> None:
    done = connected("show", stocked, "lamp", "--hitsPerPage", "1")

    assert done.stdout.startswith(f'1 of 2 hits for "lamp" in {stocked}')
    assert "*lamp*" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["events", "films", "x"], "svc: unexpected argument `x`; usage: svc events [INDEX]"),
        (["crawlers", "tst", "c", "u"], "`crawlers tst` is not a verb; did you mean `test`?"),
        (["tasks"], "`tasks` requires a subcommand: show, wait"),
        (["synonyms", "save", "x"], "svc: FILE is missing; usage: svc synonyms save INDEX FILE"),
        (["keys", "secure", "p", "--hitPerPage", "3"], "did you mean `--hitsPerPage`?"),
    ],
)
def test_misuse_of_a_family_is_an_error(words: list[str], message: str) -> None:
    done = svc(*words)

    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "terminal",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["ascii", "no locale"],
)
def test_a_terminal_that_is_not_utf8_gets_all_it_can_show(
    address: dict[str, str], tmp_path: Path, terminal: dict[str, str]
) -> None:
    path = tmp_path / "oil.csv"
    path.write_text("id,name\n1,Lämpchen\n", encoding="utf-8")

    loaded = svc("load", str(path), "größe", "--id", "id", **address, **terminal)
    found = svc("search", "größe", "lämp", **address, **terminal)
    lost = svc("search", "grösse", **address, **terminal)

    assert (loaded.returncode, found.returncode, lost.returncode) == (0, 0, 1)
    assert r"L\xe4mpchen" in found.stdout
    assert r"svc: Index gr\xf6sse does not exist" in lost.stderr


def test_error_without_a_key_has_advice_for_a_shell() -> None:
    done = svc("search", "films", SVC_URL="http://127.0.0.1:9", SVC_APP_ID="A")

    assert done.returncode == 1
    assert "SVC_API_KEY" in done.stderr
    assert "connect(" not in done.stderr


@pytest.mark.slow
def test_a_secured_key_is_made_without_a_service() -> None:
    made = svc(
        "keys", "secure", "--env", "MINE", "--filters", "owner:42", "--reveal", MINE="parent"
    )
    told = svc("keys", "explain", "-", "--format", "json", given=made.stdout)

    assert json.loads(told.stdout)[0]["value"] == "owner:42"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["restore", "secure", "explain"])
@pytest.mark.sampled(1)
def test_unmasked_key_is_not_accepted_as_argument(connected: Svc, verb: str) -> None:
    refused = connected("keys", verb, "0123456789abcdef")
    unasked = connected("keys", verb)
    unset = connected("keys", verb, "--env", "NOWHERE")

    assert [done.returncode for done in (refused, unasked, unset)] == [2, 2, 2]
    assert "a key passed as an argument is visible" in refused.stderr
    assert "`-` to read it from standard input" in unasked.stderr
    assert "no key was read from the environment variable NOWHERE" in unset.stderr
    assert "0123456789abcdef" not in refused.stderr
