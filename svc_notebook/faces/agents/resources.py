"""Resources of a server: search parameters, configurations of indices, reports of its tools."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.agents.answers import shape_answer
from svc_notebook.tuning.changes import snapshot

SCHEME = "svc://"
PARAMETERS_URI = f"{SCHEME}parameters"
CONFIGURATION_TEMPLATE = f"{SCHEME}indices/{{index}}/configuration"
REPORT_TEMPLATE = f"{SCHEME}reports/{{number}}"
MAX_REPORTS = 20
MAX_REPORT_CHARACTERS = 400_000


class Reports:
    """The last results of measurements, at most `MAX_REPORTS`, by their numbers."""

    def __init__(self) -> None:
        self._reports: OrderedDict[int, tuple[str, Any]] = OrderedDict()
        self._count = 0

    def keep(self, title: str, result: Any) -> str:
        """Keep a result, and return the address of its report."""
        self._count += 1
        self._reports[self._count] = (title, result)
        while len(self._reports) > MAX_REPORTS:
            self._reports.popitem(last=False)
        return f"{SCHEME}reports/{self._count}"

    def list_titles(self) -> dict[str, str]:
        """Return the titles of the reports by address."""
        return {f"{SCHEME}reports/{n}": title for n, (title, _) in self._reports.items()}

    def read(self, number: str) -> str:
        """Return a report with the tables that its answer cut."""
        if not number.isdecimal() or int(number) not in self._reports:
            present = ", ".join(map(str, self._reports)) or "none yet"
            raise BadInput(f"there is no report {number}; the last {MAX_REPORTS} are: {present}")
        title, result = self._reports[int(number)]
        return _encode({"title": title, **shape_answer(result, MAX_REPORT_CHARACTERS)})


async def read_resource(uri: str, reports: Reports, client: AnyClient | None) -> str:
    """Return a resource as JSON; raise `BadInput` for an address of none."""
    if uri == PARAMETERS_URI:
        return _encode(
            {name: {"meaning": parameter.meaning, "default": parameter.default}
             for name, parameter in PARAMETERS.items()}
        )  # fmt: skip
    match uri.removeprefix(SCHEME).split("/"):
        case ["indices", index, "configuration"]:
            taken = await snapshot(unquote(index), client=asynchronous(client))
            return _encode(taken.to_json())
        case ["reports", number]:
            return reports.read(number)
    raise BadInput(
        f"there is no resource {uri}; there are {PARAMETERS_URI}, {CONFIGURATION_TEMPLATE} and "
        f"{REPORT_TEMPLATE}"
    )


def configuration_uri(index: str) -> str:
    """Return the address of the configuration of an index."""
    return CONFIGURATION_TEMPLATE.replace("{index}", quote(index, safe=""))


def _encode(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=1).decode()
