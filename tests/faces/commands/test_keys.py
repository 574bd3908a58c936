"""Keys created, changed, deleted and restored on a real service; secured keys."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.core.api import Endpoint, RequestSpec
from svc_notebook.data.client import AsyncClient, ClientConfig, Secret
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions import aio as functions
from svc_notebook.faces.functions.output import as_text
from tests.conftest import Running
from tests.faces.commands.conftest import Typed


@pytest.fixture
def key(typed: Typed, admin: svc.Client) -> Iterator[Any]:
    """A key of this test's own."""
    made = typed("keys add --acl search,browse --indexes keys-* --description mine")
    yield made
    admin.delete_key(made["key"].reveal())


def rights(key: Any) -> list[str]:
    return list(svc.get_key(key)["acl"])


def test_created_key_is_masked_by_default(typed: Typed, key: Any) -> None:
    assert isinstance(key["key"], Secret)
    assert key["key"].reveal() not in f"{key} {as_text(key)} {svc.get_key(key)}"


def test_created_key_is_shown_on_request(typed: Typed) -> None:
    made = typed("keys add --acl search --reveal")

    assert rights(made["key"]) == ["search"]
    svc.delete_key(made["key"])


def test_a_key_is_made_from_a_body(typed: Typed) -> None:
    made = typed("keys add", "acl: search\nmaxHitsPerQuery: 5\nvalidity: 600")

    found = svc.get_key(made)
    assert (found["acl"], found["maxHitsPerQuery"]) == (["search"], 5)
    svc.delete_key(made)


def test_whoami_shows_the_limits_and_the_expiry_of_the_key(typed: Typed, admin: svc.Client) -> None:
    made = typed("keys add --acl search --validity 7d --maxHitsPerQuery 5 --description shop")
    config = admin.connection
    limited = svc.Client(replace(config, api_key=made["key"]))

    shown = svc.whoami(client=limited)

    assert {*shown} == {"address", "application", "rights", "maxHitsPerQuery", "expires"}
    assert shown["maxHitsPerQuery"] == 5
    assert "<redacted>" not in str(shown)
    listed = svc.read_keys().set_index("description").loc["shop"]
    left = listed["expires"] - pd.Timestamp.now("UTC")
    assert pd.Timedelta(days=6.9) < left <= pd.Timedelta(days=7)
    assert svc.read_keys()["expires"].isna().any()
    svc.delete_key(made)


def test_the_help_of_a_key_describes_its_fields_with_units(typed: Typed) -> None:
    text = str(typed("help keys add"))

    assert "seconds until the key expires, or a duration such as `24h`" in text
    assert "maximum queries per IP address and hour" in text


def test_an_update_leaves_what_it_does_not_name(typed: Typed, key: Any) -> None:
    changed = typed("keys update --from key --acl search", key=key)

    found = svc.get_key(key)
    assert changed.to_numpy().tolist() == [["acl", ["search", "browse"], ["search"]]]
    assert (found["acl"], found["indexes"], found["description"]) == (
        ["search"],
        ["keys-*"],
        "mine",
    )


def test_a_changed_key_does_not_live_longer(typed: Typed) -> None:
    made = typed("keys add --acl search --validity 600")

    changed = typed("keys update --from made --description its", made=made)

    assert changed["field"].tolist() == ["description", "validity"]
    assert 0 < svc.get_key(made)["validity"] <= 600
    svc.delete_key(made)


def test_an_update_of_nothing_is_refused(typed: Typed, key: Any) -> None:
    with pytest.raises(svc.errors.BadInput, match="no field to change; pass one or more of acl"):
        typed("keys update --from key", key=key)


@pytest.mark.parametrize("ending", ["", "..."])
def test_a_key_is_named_by_its_beginning(typed: Typed, key: Any, ending: str) -> None:
    beginning = key["key"].reveal()[:8]

    assert typed(f"keys get {beginning}{ending}")["description"] == "mine"


def test_a_beginning_of_no_key_or_several_is_refused(typed: Typed, key: Any) -> None:
    with pytest.raises(svc.errors.NotFound, match="no key begins with `zzzz`"):
        typed("keys get zzzz-no-such-key")
    with pytest.raises(svc.errors.BadInput, match="a key must be text"):
        svc.get_key({})


def test_the_key_in_use_is_read_without_naming_it(key: Any, service: Running) -> None:
    svc.connect(url=service.url, app_id=service.appId, api_key=service.searchKey)

    assert "search" in svc.get_key()["acl"]


def test_deleted_key_is_restored(typed: Typed) -> None:
    made = typed("keys add --acl search")

    gone = typed("keys delete --from made --yes", made=made)
    with pytest.raises(svc.errors.NotFound):
        svc.get_key(made["key"])
    back = typed("keys restore --from gone", gone=gone)

    assert rights(back) == ["search"]
    svc.delete_key(back)


def test_a_question_about_a_key_does_not_tell_it(
    typed: Typed, key: Any, answer_questions: Callable[..., list[str]]
) -> None:
    asked = answer_questions("no")
    text = key["key"].reveal()

    for line in (f"keys delete {text}", "keys delete --from key", "keys delete --from secret"):
        with pytest.raises(svc.errors.Stopped):
            typed(line, key=key, secret=key["key"])

    assert len(asked) == 3
    assert text not in "".join(asked)
    assert f"the key {text[:4]}..." in asked[0]


def test_a_key_of_an_index_is_made_changed_and_deleted(typed: Typed) -> None:
    svc.push(pd.DataFrame({"objectID": ["1"]}), "keys-own")
    made = typed("keys add --index keys-own --acl search")

    typed("keys update --from made --index keys-own --description its", made=made)
    found = typed("keys get --from made --index keys-own", made=made)
    listed = typed("keys keys-own")
    typed("keys delete --from made --index keys-own --yes", made=made)

    assert found["description"] == "its"
    assert (len(listed), len(typed("keys keys-own"))) == (1, 0)


def test_a_right_that_is_none_is_refused_with_advice(typed: Typed) -> None:
    with pytest.raises(svc.errors.SvcError, match="brows"):
        typed("keys add --acl brows")


def test_a_secured_key_does_what_it_says(typed: Typed, key: Any, service: Running) -> None:
    secured = typed("keys secure --from key --hitsPerPage 1 --validUntil 99999999999", key=key)

    assert isinstance(secured, Secret)
    svc.connect(url=service.url, app_id=service.appId, api_key=secured.reveal())
    assert svc.whoami()["restrictions"]["hitsPerPage"] == "1"


def test_a_secured_key_is_not_made_from_a_key_that_services_refuse_as_a_parent(
    typed: Typed, key: Any, service: Running
) -> None:
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    with pytest.raises(BadInput, match=r"this is an admin key.*add_key\(acl=\['search'\]\)"):
        svc.secured_key(service.adminKey, filters="a:b")

    secured = svc.secured_key(key, filters="a:b")
    with pytest.raises(BadInput, match="a secured key cannot be the parent"):
        svc.secured_key(secured, filters="c:d")
    svc.connect(url=service.url, app_id=service.appId, api_key=key["key"].reveal())
    assert isinstance(svc.secured_key(key, filters="a:b"), Secret)


def test_a_secured_key_is_explained_without_a_service() -> None:
    until = int(time.time()) + 3600
    secured = svc.secured_key(
        "parent", filters="owner:42 AND x>1", validUntil=until, restrictIndices=["a", "b*"]
    )

    told = svc.explain_key(secured).set_index("restriction")

    assert told["value"].to_dict() == {
        "filters": "owner:42 AND x>1", "restrictIndices": "a,b*", "validUntil": str(until)
    }  # fmt: skip
    meanings = told["meaning"].to_dict()
    assert str(meanings["validUntil"]).startswith("until 20")
    assert meanings["restrictIndices"] == "only these indices"


@pytest.mark.parametrize(
    ("until", "meaning"), [(1, "expired at 1970-01-01 00:00:01 UTC"), (2**53 - 1, "for ever")]
)
def test_expiry_is_formatted_as_a_time(until: int, meaning: str) -> None:
    told = svc.explain_key(svc.secured_key("parent", validUntil=until, reveal=True))

    assert told["meaning"].tolist() == [meaning]


@pytest.mark.parametrize("key", ["1f3a5d9b27c04e68", "not base 64!", Secret("abc")])
def test_key_that_is_not_secured_is_not_explained(key: Any) -> None:
    with pytest.raises(svc.errors.BadInput, match="not a secured key"):
        svc.explain_key(key)


def test_the_awaited_twins_do_the_same(key: Any) -> None:
    found = asyncio.run(svc.aio.get_key(key))

    assert found["description"] == "mine"


class Late:
    """A service on which a change of a key is seen at the third look."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.key: dict[str, Any] = {"value": "k", "createdAt": 1, "acl": ["search", "browse"]}
        self.next: dict[str, Any] = {}
        self.looked = 0

    async def send(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        if endpoint.name == "update_key":
            self.next = {**self.key, **parcel.body}
            return {"key": "k", "updatedAt": ""}
        if self.next:
            self.looked += 1
        return self.next if self.looked >= self.looks else self.key


def change_late(service: Late, **fields: Any) -> None:
    connection = ClientConfig(app_id="X", url="http://127.0.0.1:9", api_key=Secret("k"))
    client = AsyncClient(connection, service)  # type: ignore[arg-type]
    asyncio.run(functions.update_key(Secret("k"), client=client, **fields))


@pytest.mark.parametrize(
    "fields",
    [{"acl": ["browse"]}, {"description": "new"}, {"validity": 60}, {"acl": ["x"], "validity": 9}],
)
def test_a_change_is_waited_for_until_it_is_seen(fields: dict[str, Any]) -> None:
    late = Late(3)

    change_late(late, **fields)

    assert late.looked == 3


@pytest.mark.parametrize(
    "fields", [{"acl": ["browse", "search"]}, {"description": ""}, {"validity": 0}, {"indexes": []}]
)
def test_what_is_the_same_in_other_words_is_seen_at_once(fields: dict[str, Any]) -> None:
    late = Late(1)

    change_late(late, **fields)

    assert late.looked == 1


@pytest.mark.usefixtures("without_key_checks")
def test_warns_if_a_change_does_not_become_visible() -> None:
    with pytest.warns(UserWarning, match="has not changed"):
        change_late(Late(9), description="new")
