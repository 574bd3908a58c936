"""What tests of the service share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from svc_notebook.service.engine.text.word_forms import has_table, standard_table
from tests.service.past import Clock, settable_clock

# Languages whose compounds and plurals tests search over HTTP.
LANGUAGES = ("de", "nl")


@pytest.fixture(scope="session", autouse=True)
def _form_tables() -> None:
    """Build tables first: a service builds them in the background, and searches without them."""
    for language in LANGUAGES:
        if not has_table(language):
            standard_table(language)


@pytest.fixture
def clock() -> Iterator[Clock]:
    """The time of services in this process, which this test sets."""
    with settable_clock() as clock:
        yield clock
