"""`%svc` and `%%svc` in a real kernel."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.faces.magics.kernel import Kernel, running_kernel


def test_a_search_is_a_value_and_prints_nothing(notebook: Kernel) -> None:
    cell = notebook.good("%svc search films godfahter --criteria --columns title")

    assert "The Godfather" in cell.result
    assert "nbTypos" in cell.result
    assert "<table" in cell.html
    assert cell.printed == cell.warned == ""


def test_a_result_is_assigned(notebook: Kernel) -> None:
    cell = notebook.good("found = %svc search films god\nlist(found['title'])")

    assert cell.result == "['Godzilla', 'The Godfather']"


def test_result_is_assigned_instead_of_displayed(notebook: Kernel) -> None:
    cell = notebook.good("%svc search films rush -o kept")

    assert cell.result == ""
    assert notebook.good("list(kept['objectID'])").result == "['3']"


@pytest.mark.parametrize("line", ["%svc {} -o kept", "kept = %svc {}"])
def test_when_a_cell_fails_the_name_keeps_its_old_value(notebook: Kernel, line: str) -> None:
    notebook.good("kept = 'old'")

    cell = notebook.run(line.format("search no-such-index lamp"))

    assert cell.status == "error"
    assert notebook.good("kept").result == "'old'"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("%svc serch films", "BadOption: `serch` is not a verb; did you mean `search`?"),
        ("%svc search films --hitPerPage 2", "did you mean `--hitsPerPage`?"),
        ("%svc search nowhere x", "NotFound: Index nowhere does not exist"),
        ("%%svc search films\npage: 0\nquerry: x", "BadOption: line 2: unknown member `querry`"),
        ("%svc wait 987654321 --index films --timeout 0.1", "NotFound: "),
        ("%%svc\nsearch films", "BadOption: the verb is missing; write it after `%%svc`"),
        ("%%svc indices\nx", "`%%svc indices` has no body"),
    ],
)
def test_a_failing_cell_fails_with_one_short_message(
    notebook: Kernel, code: str, error: str
) -> None:
    cell = notebook.run(code)

    assert cell.status == "error"
    assert error in cell.error
    first, *advice = cell.traceback.split("\n")
    assert first == cell.error
    assert advice in ([], ["`%svc indices` lists the existing ones"])
    assert cell.printed == cell.warned == ""


def test_a_body_is_json_or_lines(notebook: Kernel) -> None:
    lines = notebook.good(
        "%%svc search films god\nfilters: year > 1960\nattributesToRetrieve: title"
    )
    braces = notebook.good(
        '%%svc search films god\n{"filters": "year > 1960",\n "attributesToRetrieve": ["title"]}'
    )

    assert lines.result == braces.result
    assert "Godfather" in lines.result
    assert "Godzilla" not in lines.result
    assert "1972" not in lines.result


def test_change_of_settings_returns_values_before_and_after(notebook: Kernel) -> None:
    cell = notebook.good('%%svc settings changing\nranking: ["typo", "custom"]\nhitsPerPage: 7')
    shown = notebook.good(
        "now = %svc settings changing\nnow.set_index('setting')['value']['hitsPerPage']"
    )
    reset = notebook.good("%svc settings changing --hitsPerPage null")

    assert "hitsPerPage" in cell.result
    assert "[typo, custom]" in cell.result
    assert shown.result == "7"
    assert "20" in reset.result


def test_variables_in_a_line_are_values_unless_switched_off(notebook: Kernel) -> None:
    notebook.good("films_year = 'gold'")
    line = "found = %svc search films {films_year} $films_year\nfound.attrs['svc']['query']"

    values = notebook.good(line)
    literal = notebook.good(f"%env SVC_MAGIC_VARIABLES=off\n{line}")
    notebook.good("%env SVC_MAGIC_VARIABLES=on")

    assert values.result == "'gold gold'"
    assert literal.result == "'{films_year} $films_year'"


def test_parameters_come_from_a_variable(notebook: Kernel) -> None:
    notebook.good("wanted = {'filters': 'year < 1960', 'hitsPerPage': 1}")

    cell = notebook.good("found = %svc search films --params wanted --hitsPerPage 5\nlen(found)")

    assert cell.result == "2"


def test_a_file_is_planned_then_loaded(notebook: Kernel, tmp_path: Path) -> None:
    (tmp_path / "some films.csv").write_text("id,title\n007,Goldfinger\n008,Alien\n007,Twice\n")
    line = f"load '{tmp_path}/some films.csv' loaded --id id"

    plan = notebook.good(f"%svc {line} --dry-run")
    load = notebook.good(f"result = %svc {line}\nresult")
    back = notebook.good("back = %svc get loaded 008\nback['title'][0]")

    assert "Plan" not in notebook.good("type(result).__name__").result
    assert "Goldfinger" in plan.result
    assert "2 published" in load.result or "1 published" in load.result
    assert load.printed == load.warned == ""
    assert back.result == "'Alien'"


def test_the_functions_and_their_awaited_twins_agree(notebook: Kernel) -> None:
    notebook.good("import svc_notebook as svc")

    cell = notebook.good("svc.search('films', 'god').equals(await svc.aio.search('films', 'god'))")

    assert cell.result == "True"


def test_another_profile_is_used_for_once(
    notebook: Kernel, service: Running, environment: dict[str, str]
) -> None:
    Path(environment["SVC_CONFIG"]).write_text(
        f'[profiles.reader]\nurl = "{service.url}"\napp_id = "{service.appId}"\n'
        f'api_key = "{service.searchKey}"\n'
    )
    notebook.good("key = os.environ.pop('SVC_API_KEY', '')")

    once = notebook.good("%svc whoami --profile reader")
    before = notebook.good("%svc whoami")

    assert "['search']" in once.result
    assert "['search']" not in before.result
    assert notebook.complete("%svc use rea") == ("rea", ["reader"])
    notebook.good("os.environ['SVC_API_KEY'] = key")


def test_accessors_are_there(notebook: Kernel) -> None:
    cell = notebook.good("films.svc.push('accessed').published")

    assert cell.result == "3"


@pytest.mark.parametrize(
    ("code", "fragment", "matches"),
    [
        ("%svc sea", "sea", ["search"]),
        ("x = 3\nfound = %svc search fil", "fil", ["films"]),
        ("kept['found'] = %svc search fil", "fil", ["films"]),
        ("%svc search films --hitsP", "--hitsP", ["--hitsPerPage"]),
        ("%svc search films --typoTolerance ", "", ["true", "false", "min", "strict"]),
        ("%svc search films --facets ge", "ge", ["genre"]),
        ("%svc search films --columns ti", "ti", ["title"]),
        ("%svc push films --from basem", "basem", ["basement"]),
        ("%svc push films --from films --id y", "y", ["year"]),
        ("%svc search films --filters genre:", "", ["Comedy", "Crime", "Drama", "Horror"]),
        ("%svc search films god --facetFilters genre:dr", "dr", ["Drama"]),
        ('%%svc search films\n{"filters": "genre:ho', "ho", ["Horror"]),
        ("%svc settings films --ranking typ", "typ", ["typo"]),
        ("%svc settings films --customRanking desc(ye", "ye", ["year"]),
        ("%svc search films i", "", []),  # and no `import` or `%ls` either
        ("%svc connect lo", "lo", ["local"]),
        ("%%svc search fil", "fil", ["films"]),
        ("%%svc search films\npage: 1\nhitsP", "hitsP", ["hitsPerPage:"]),
        ("%%svc search films\nfilters: ye", "ye", ["year"]),
        ('%%svc search films\n{"facets": ["ge', "ge", ["genre"]),
        ("%%svc settings films\ncustomRanking: desc(ye", "ye", ["year"]),
    ],
)
def test_tab_completes(notebook: Kernel, code: str, fragment: str, matches: list[str]) -> None:
    assert notebook.complete(code) == (fragment, matches)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("code", "fragment", "matches"),
    [
        ('svc.search("fi', "fi", ["films"]),  # and no file, whatever begins so
        ('found = svc.search("films", facets=["ge', "ge", ["genre"]),
        ('svc.search("films", filters="genre:ho', "ho", ["Horror"]),
        ('%time\nsvc.search("films", attributesToRetrieve=["ti', "ti", ["title"]),
        ('svc.set_settings("films", customRanking=["desc(ye', "ye", ["year"]),
        ('svc.search("films", hitsP', "hitsP", ["hitsPerPage="]),
    ],
)
def test_tab_completes_inside_calls(
    notebook: Kernel, code: str, fragment: str, matches: list[str]
) -> None:
    notebook.good("import svc_notebook as svc\nopen('figures.txt', 'w').close()")

    assert notebook.complete(code) == (fragment, matches)
    assert notebook.complete("open('fig") == ("fig", ["figures.txt"])


@pytest.mark.slow
def test_tab_completes_inside_calls_without_the_extension(environment: dict[str, str]) -> None:
    with running_kernel(environment) as kernel:
        kernel.good("import svc_notebook as svc")

        assert "hitsPerPage=" in kernel.complete('svc.search("films", hitsP')[1]
        kernel.good("%load_ext svc_notebook")
        assert kernel.complete("%svc sea") == ("sea", ["search"])


def test_completion_offers_variables_with_suitable_values(notebook: Kernel) -> None:
    _, matches = notebook.complete("%svc push films --from ")

    assert {"basement", "films"} <= set(matches)
    assert not {"In", "Out", "exit", "get_ipython", "open", "pd", "os"} & set(matches)


def test_tab_completes_files(notebook: Kernel) -> None:
    notebook.good("open('goods.csv', 'w').close()")

    assert notebook.complete("%svc load go") == ("go", ["goods.csv"])


@pytest.mark.slow
def test_python_is_completed_as_ever(notebook: Kernel) -> None:
    assert "pardir" in notebook.complete("import os\nos.par")[1]


@pytest.mark.slow
def test_completion_is_silent_when_the_service_does_not_answer(
    environment: dict[str, str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf, running_kernel(environment) as kernel:
        kernel.good("%load_ext svc_notebook\nimport os\nos.environ['SVC_API_KEY'] = 'x'")
        kernel.good(f"%svc connect --url http://127.0.0.1:{deaf.getsockname()[1]} --app-id X")

        kernel.complete("%svc search ")

        assert kernel.complete("%svc search --hitsP") == ("--hitsP", ["--hitsPerPage"])
        cell = kernel.good("1 + 1")
        assert (cell.result, cell.warned) == ("2", "")


def test_help_is_a_text(notebook: Kernel) -> None:
    assert notebook.good("%svc").result.startswith("%svc VERB")
    assert "--hitsPerPage" in notebook.good("%svc help search").result
    assert notebook.good("%svc search --help").result == notebook.good("%svc help search").result


def test_prompts_for_a_missing_key(notebook: Kernel, service: Running) -> None:
    notebook.good(
        "import svc_notebook as svc\nbefore = svc.current()\ndel os.environ['SVC_API_KEY']"
    )

    cell = notebook.run(
        f"%svc connect --url {service.url} --app-id {service.appId}", answer=service.adminKey
    )

    assert cell.status == "ok"
    assert service.adminKey not in cell.result
    assert notebook.answers == [f"API key of {service.appId}: "]
    assert "films" in notebook.good("%svc indices").result


def test_a_key_in_a_line_is_advised_against(notebook: Kernel, service: Running) -> None:
    cell = notebook.good(
        f"%svc connect --url {service.url} --app-id {service.appId} --api-key {service.adminKey}"
    )

    assert "enter it at a prompt" in cell.warned
    assert service.adminKey not in cell.warned + cell.result


@pytest.mark.slow
def test_loading_again_and_unloading_leave_nothing_behind(environment: dict[str, str]) -> None:
    state = """
ip = get_ipython()
def state():
    magics = ip.magics_manager.lsmagic()
    own = sorted(vars(ip.magics_manager.user_magics))
    return sorted(magics["line"]), sorted(magics["cell"]), own, list(ip.Completer.custom_matchers)
before = state()
"""
    with running_kernel(environment) as kernel:
        kernel.good(state)
        kernel.good("%load_ext svc_notebook")
        kernel.good("%reload_ext svc_notebook")
        assert kernel.complete("%svc sea") == ("sea", ["search"])
        assert kernel.good("len(state()[3]) - len(before[3])").result == "1"

        kernel.good("%unload_ext svc_notebook")

        assert kernel.good("state() == before").result == "True"


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        pytest.param("%svc load big.csv {} --batch 500", id="plain"),
        pytest.param(
            "import asyncio\nawait asyncio.sleep(0)\n%svc load big.csv {} --batch 500", id="await"
        ),
    ],
)
def test_stop_ends_a_load_and_the_notebook_continues(
    notebook: Kernel, service: Running, cell: str
) -> None:
    notebook.good(
        "rows = '\\n'.join(f'{n},word{n % 977} word{n % 991},{n}' for n in range(300_000))\n"
        "open('big.csv', 'w').write('objectID,text,number\\n' + rows) and None"
    )
    index = f"stopped-{len(cell)}"
    request = notebook.start(cell.format(index))
    with service.client() as client:
        while client.get(f"/1/indexes/{index}/settings").status_code != 200:
            time.sleep(0.02)
    queued = notebook.start("'still here'")

    notebook.stop()
    stopped = notebook.finish(request)

    assert stopped.error.startswith("Stopped: stopped. ")
    assert "rows were sent" in stopped.error
    assert stopped.traceback == stopped.error
    assert "--resume" in stopped.error
    assert notebook.finish(queued).status in ("ok", "aborted")
    assert index in notebook.good("%svc indices").result


@pytest.mark.slow
def test_the_local_service_ends_with_its_kernel(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with running_kernel(environment | {"SVC_IDLE_SECONDS": "1"}) as kernel:
        kernel.good("%load_ext svc_notebook")
        kernel.good(f"%svc connect local --data {tmp_path}")
        pid = json.loads((tmp_path / "service.json").read_text())["pid"]
        assert kernel.good("found = %svc indices\nlen(found)").result == "0"

    for _ in range(500):
        if not is_alive(pid):
            break
        time.sleep(0.02)

    assert not is_alive(pid)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
