"""Each endpoint refuses keys without its right and accepts keys with its right alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, get_args

import pytest
from algoliasearch.search.models.acl import Acl

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.core.api.endpoint import Right
from svc_notebook.core.api.secured_keys import make_secured_key
from svc_notebook.service.handlers import HANDLERS
from svc_notebook.service.keyring import IGNORED_RIGHTS
from svc_notebook.service.tasks.batch_operations import ACTION_RIGHTS as ACTIONS
from tests.conftest import start_service, stop_service
from tests.looping import loop_over
from tests.service.service_process import Outside
from tests.service.test_contract import headers_of, path_of

RIGHTS = get_args(Right)
BATCHES = ["/1/indexes/mine/batch", "/1/indexes/*/batch"]
GUARDED = [row for row in ENDPOINTS if row.acl in RIGHTS]
OF_INDICES = [row for row in GUARDED if "{index}" in row.path]
# What a body names has to be reached, too.
NAMED = [
    ("/1/indexes/*/queries", "search", {"requests": [{"indexName": "mine"}]}),
    ("/1/indexes/*/queries", "search", {"requests": [{"indexName": "mine", "type": "facet"}]}),
    ("/1/indexes/*/queries", "search", {"requests": [{"indexName": "mine", "params": "query=a"}]}),
    ("/1/indexes/*/objects", "search", {"requests": [{"indexName": "mine", "objectID": "1"}]}),
    ("/1/indexes/theirs/operation", "addObject", {"operation": "copy", "destination": "mine"}),
    ("/1/indexes/theirs/operation", "addObject", {"operation": "move", "destination": "mine"}),
    ("/1/indexes/mine/operation", "addObject", {"operation": "move", "destination": "theirs"}),
]


class Matrix(Outside):
    """A service for all cells; no cell depends on what is stored."""

    def key(self, acl: list[str], **fields: Any) -> str:
        answer = self.call("POST", "/1/keys", {"acl": acl, **fields})
        assert answer.is_success, answer.text
        return str(answer.json()["key"])

    def ask(self, row: Endpoint, key: str, body: Any = None) -> tuple[int, str]:
        """Call an endpoint; returns the status and what was said."""
        answer = self.call(row.verb, path_of(row, "mine"), body, key=key)
        return answer.status_code, answer.text

    def send(self, path: str, body: Any, key: str) -> int:
        status: int = self.call("POST", path, body, key=key).status_code
        return status


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    process, running = start_service(tmp_path_factory.mktemp("matrix"))
    matrix = Matrix(running)
    matrix.done("POST", "/1/indexes/mine", {"objectID": "1"})
    yield matrix
    matrix.close()
    stop_service(process)


def without(right: str) -> list[str]:
    return [*(other for other in RIGHTS if other != right), *IGNORED_RIGHTS]


@loop_over("row", GUARDED)
def test_a_key_that_lacks_just_the_right_is_refused(matrix: Matrix, row: Endpoint) -> None:
    status, said = matrix.ask(row, matrix.key(without(row.acl)))

    assert status == (401 if row.interface == "events" else 403)
    assert f"this key lacks the right `{row.acl}`" in said


@loop_over("row", GUARDED)
def test_a_key_that_has_just_the_right_is_served(matrix: Matrix, row: Endpoint) -> None:
    status, said = matrix.ask(row, matrix.key([row.acl]))

    assert status not in (401, 403), said


@loop_over("row", [row for row in ENDPOINTS if row.acl == "admin"])
def test_admin_endpoints_refuse_all_other_keys(matrix: Matrix, row: Endpoint) -> None:
    every = matrix.key([*RIGHTS, *IGNORED_RIGHTS])

    assert matrix.ask(row, every)[0] == 403
    assert "admin key" in matrix.ask(row, every)[1]
    assert matrix.ask(row, make_secured_key(every, userToken="me"))[0] == 403
    assert matrix.ask(row, matrix.facts["adminKey"])[0] not in (401, 403)


@loop_over("row", [row for row in ENDPOINTS if row.acl == "any"])
def test_any_key_may_read_itself(matrix: Matrix, row: Endpoint) -> None:
    key = matrix.key([])

    assert matrix.call(row.verb, f"/1/keys/{key}", key=key).status_code == 200
    assert matrix.call(row.verb, f"/1/keys/{key}", key="unknown").status_code == 403


@loop_over("row", [row for row in ENDPOINTS if row.acl == "crawler"])
def test_crawler_endpoints_accept_only_crawler_credentials(matrix: Matrix, row: Endpoint) -> None:
    own = matrix.call(row.verb, path_of(row), headers=headers_of(matrix, row))

    assert matrix.ask(row, matrix.facts["adminKey"])[0] == 401
    assert own.status_code != 401


def test_every_endpoint_is_in_the_matrix() -> None:
    others = {row.acl for row in ENDPOINTS if row not in GUARDED}

    assert others == {"admin", "any", "actions", "crawler"}
    assert {row.path for row in ENDPOINTS if row.acl == "actions"} == {
        "/1/indexes/{index}/batch",
        "/1/indexes/*/batch",
    }


@pytest.mark.parametrize(("action", "path"), list(product(ACTIONS, BATCHES)))
def test_each_batched_action_needs_its_right_and_no_other(
    matrix: Matrix, action: str, path: str
) -> None:
    body = batch(action, path)
    right = ACTIONS[action]

    refused = matrix.call("POST", path, body, key=matrix.key(without(right)))
    served = matrix.call("POST", path, body, key=matrix.key([right]))

    assert (refused.status_code, served.status_code) == (403, 200)
    assert f"`{right}`" in refused.json()["message"]


def test_one_action_without_its_right_stops_the_whole_batch(matrix: Matrix) -> None:
    matrix.done("POST", "/1/indexes/whole", {"objectID": "1"})
    requests = [{"action": "addObject", "body": {"objectID": "2"}}, {"action": "clear"}]
    key = matrix.key(["addObject"])

    assert matrix.send("/1/indexes/whole/batch", {"requests": requests}, key) == 403
    assert matrix.ids("whole") == ["1"]


def batch(action: str, path: str, index: str = "mine") -> dict[str, Any]:
    named = {"indexName": index} if "*" in path else {}
    return {"requests": [{"action": action, "body": {"objectID": "1"}, **named}]}


@loop_over("row", OF_INDICES)
def test_a_key_for_other_indices_is_refused_with_every_right(matrix: Matrix, row: Endpoint) -> None:
    other, own = (matrix.key([*RIGHTS], indexes=[name]) for name in ("theirs*", "mi*"))

    assert matrix.ask(row, other)[0] == 403
    assert "does not reach the index mine" in matrix.ask(row, other)[1]
    assert matrix.ask(row, own)[0] != 403


@pytest.mark.slow
@loop_over("row", OF_INDICES)
def test_a_secured_key_has_the_rights_of_its_parent_on_its_indices(
    matrix: Matrix, row: Endpoint
) -> None:
    every, none = matrix.key([row.acl]), matrix.key(without(row.acl))

    assert matrix.ask(row, make_secured_key(every, restrictIndices="mine"))[0] != 403
    assert matrix.ask(row, make_secured_key(every, restrictIndices="theirs"))[0] == 403
    assert matrix.ask(row, make_secured_key(none, restrictIndices="mine"))[0] == 403


@loop_over("row", OF_INDICES)
def test_a_key_of_one_index_is_for_that_index(matrix: Matrix, row: Endpoint) -> None:
    fields = {"acl": [right for right in RIGHTS if right != "recommendation"]}
    own, other = (
        matrix.call("POST", f"/1/indexes/{name}/keys", fields).json()["key"]
        for name in ("mine", "theirs")
    )
    if row.name in ("delete_index", "operate_index"):  # these take the keys of an index away
        assert matrix.ask(row, other)[0] == 403
        return

    assert matrix.ask(row, own)[0] != 403
    assert matrix.ask(row, other)[0] == 403


@pytest.mark.parametrize(("path", "right", "body"), NAMED)
def test_an_index_named_in_a_body_is_guarded(
    matrix: Matrix, path: str, right: str, body: dict[str, Any]
) -> None:
    half = matrix.key([right], indexes=["theirs"])
    whole = matrix.key([right], indexes=["theirs", "mine"])

    assert matrix.send(path, body, half) == 403
    assert matrix.send(path, body, make_secured_key(whole, restrictIndices="theirs")) == 403
    assert matrix.send(path, body, whole) != 403


@pytest.mark.parametrize("action", ACTIONS)
def test_an_index_named_in_a_batch_is_guarded(matrix: Matrix, action: str) -> None:
    own, other = (matrix.key([*RIGHTS], indexes=[name]) for name in ("mine", "theirs"))
    path = "/1/indexes/*/batch"

    assert matrix.send(path, batch(action, path), other) == 403
    assert matrix.send(path, batch(action, path), own) == 200


@loop_over("right", sorted({*RIGHTS, *IGNORED_RIGHTS, *(acl.value for acl in Acl)}))
def test_every_right_can_be_given(matrix: Matrix, right: str) -> None:
    key = matrix.key([right])

    told = matrix.call("GET", f"/1/keys/{key}").json()

    assert told["acl"] == [right]


@pytest.mark.parametrize("right", sorted(IGNORED_RIGHTS))
def test_a_right_of_an_unsupported_product_grants_nothing(matrix: Matrix, right: str) -> None:
    key = matrix.key([right])

    codes = {matrix.ask(row, key)[0] for row in HANDLERS if row.acl not in ("any", "actions")}

    assert codes <= {401, 403}
