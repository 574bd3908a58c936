"""What a cell shows of a result, in a real kernel."""

from __future__ import annotations

import pytest

from tests.faces.magics.kernel import Kernel


def test_a_result_is_a_compact_table_and_still_a_dataframe(notebook: Kernel) -> None:
    cell = notebook.good("%svc search films god")

    assert "search · films · “god” · 2 rows of 2 hits" in cell.html
    assert "border-radius" in cell.html  # the genres
    assert "<style" not in cell.html
    assert "<script" not in cell.html
    made = notebook.good("found = %svc search films god\ntype(found) is pd.DataFrame")
    assert made.result == "True"


def test_the_function_and_a_selection_of_its_rows_are_shown_alike(notebook: Kernel) -> None:
    cell = notebook.good("import svc_notebook as svc\nsvc.search('films', 'god').head(1)")

    assert "search · films · “god” · 1 row of 2 hits" in cell.html


def test_other_frames_are_as_before(notebook: Kernel) -> None:
    cell = notebook.good("films")

    assert 'class="dataframe"' in cell.html


def test_a_reason_is_first_and_whole(notebook: Kernel) -> None:
    cell = notebook.good("found = %svc explain films god\nfound")

    reason = notebook.good("found['reason'][0]").result.strip("'")
    assert len(reason) > 50  # pandas cuts here
    assert reason in cell.result
    assert reason in cell.html
    assert cell.result.split()[:2] == ["rank", "reason"]
    assert notebook.good("repr(found).split()[:2]").result == "['rank', 'reason']"


@pytest.mark.slow
def test_a_plot_as_the_last_line_prints_no_axes(notebook: Kernel) -> None:
    several = notebook.good("import svc_notebook as svc\nsvc.plot_facets('films')")
    single = notebook.good("svc.plot_facets('films')[0]")

    assert "Figure" in several.result
    assert "Figure" in single.result
    assert "<Axes:" not in several.result + single.result


def test_show_takes_an_index_and_a_query(notebook: Kernel) -> None:
    cell = notebook.good("import svc_notebook as svc\nsvc.show('films', 'god')")

    assert '2 hits for "god" in films' in cell.result
    assert "<mark>God" in cell.html
    mistaken = notebook.run("svc.show(svc.search('films', 'god'), 'god')")
    assert "pass the name of an index" in mistaken.error
