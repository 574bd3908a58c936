"""Configurations in files: written, read back exactly, compared and applied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.session import client_of
from svc_notebook.errors import BadInput, KeyRefused
from svc_notebook.faces.cli import main
from svc_notebook.tuning.deployment.configuration_files import list_own_indices
from svc_notebook.tuning.deployment.index_files import (
    assign_folders,
    folder_name,
    list_folders,
    read_entries,
    write_entries,
)
from tests.conftest import examples
from tests.tuning.deployment.conftest import RULE, make_key, write_profile

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.sampled_from(
        ["", "no", "on", "Yes", "null", "~", "1e3", "0123", "1_000", "12:30", "2024-05-01", ".inf",
         "__proto__", "<<", "=", "a: b", "a #b", "- a", "? a", "|", ">", "&a", "*a", "!a", "%a",
         "@a", "`a", "[", "{", "a,b", " a", "a ", "\t", "a\nb", "\r", "\x85", "\u2028", "\ufeff",
         "'", '"', "\\", "😀", "x" * 3000, "true", "# a", "---", "...", "0x1F", "0o7", "+1"]
    ),
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 1e300, 5e-324, 0.1 + 0.2]),
)
VALUES = st.recursive(
    st.one_of(TEXTS, NUMBERS, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


def exact(value: Any) -> str:
    """Write a value so that 1, 1.0, True and -0.0 differ."""
    if isinstance(value, dict):
        return repr(sorted((name, exact(each)) for name, each in value.items()))
    if isinstance(value, list):
        return repr([exact(each) for each in value])
    return repr(value)


@settings(max_examples=examples(300))
@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_settings_are_read_back_exactly(values: dict[str, Any]) -> None:
    text = write_entries(values, as_list=False)

    assert exact(read_entries(text, "x", as_list=False).values) == exact(values)
    assert write_entries(values, as_list=False, earlier=text) == text


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(st.dictionaries(TEXTS.filter(bool), st.dictionaries(TEXTS, VALUES, max_size=4), max_size=4))
def test_objects_are_read_back_exactly(objects: dict[str, dict[str, Any]]) -> None:
    named = {name: {**value, "objectID": name} for name, value in objects.items()}
    text = write_entries(named, as_list=True)

    assert exact(read_entries(text, "x", as_list=True).values) == exact(named)
    assert write_entries(named, as_list=True, earlier=text) == text


@settings(max_examples=examples(100))
@given(
    st.dictionaries(TEXTS.filter(bool), VALUES, max_size=4),
    st.dictionaries(TEXTS.filter(bool), VALUES, max_size=4),
)
def test_a_file_written_over_another_has_the_new_values(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    text = write_entries(other, as_list=False, earlier=write_entries(one, as_list=False))

    assert exact(read_entries(text, "x", as_list=False).values) == exact(other)


COMMENTED = """\
# Owner: the search team

# Not c: it is too generic.
- objectID: a
  synonyms: [x, y]  # agreed in May
  type: synonym

# Obsolete in autumn
- objectID: b
  synonyms:
    - one
  type: synonym
# End of the list
"""


def test_comments_stay_with_their_entries() -> None:
    def synonym(name: str, *words: str) -> dict[str, Any]:
        return {"objectID": name, "type": "synonym", "synonyms": list(words)}

    objects = {"b": synonym("b", "two"), "a": synonym("a", "x", "y"), "aa": synonym("aa", "no")}

    text = write_entries(objects, as_list=True, earlier=COMMENTED)

    assert (
        text
        == """\
# Owner: the search team

# Not c: it is too generic.
- objectID: a
  synonyms: [x, y]  # agreed in May
  type: synonym
- objectID: aa
  synonyms:
    - "no"
  type: synonym

# Obsolete in autumn
- objectID: b
  synonyms:
    - two
  type: synonym
# End of the list
"""
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hitsPerPage: 1\nhitsPerPage: 2\n", "line 2: `hitsPerPage` is given twice"),
        ("a: *b\n", "line 1: anchors"),
        ("a: !!python/object:os.system x\n", "line 1: anchors, aliases and tags"),
        ("a: [1\n", "line 2 is not YAML"),
        ("- a\n", "must contain settings"),
        ("a: red #2\n", "begins a comment"),
    ],
)
def test_what_is_not_valid_is_named(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message.replace("[", r"\[")):
        read_entries(text, "x", as_list=False)


@pytest.fixture
def pulled(index: str, shop: svc.Client, tmp_path: Path) -> Path:
    folder = tmp_path / "search"
    svc.pull_config(folder, index, client=shop)
    return folder


def test_files_are_stable_and_hide_nothing(pulled: Path, index: str, shop: svc.Client) -> None:
    assert (pulled / index / "settings.yaml").read_text() == (
        "attributesForFaceting:\n  - brand\n"
        "customRanking:\n  - desc(sold)\n"
        "searchableAttributes:\n  - name\n"
    )
    assert not svc.pull_config(pulled, index, client=shop).written
    assert svc.apply_config(pulled, index, client=shop, check=True).complete


def test_a_second_service_gets_what_the_files_have(
    pulled: Path, index: str, shop: svc.Client
) -> None:
    made = svc.apply_config(pulled)

    assert svc.tuning.diff(svc.tuning.snapshot(index, client=shop), index).empty
    svc.tuning.undo(index, made.change_ids[index])
    assert not svc.current().get_settings(index).get("customRanking")


def test_what_a_file_does_not_have_is_reset_and_deleted(
    pulled: Path, index: str, shop: svc.Client
) -> None:
    svc.set_settings(index, {"hitsPerPage": 3}, client=shop)
    svc.save_rules(index, {"objectID": "other", **RULE}, client=shop)
    (pulled / index / "synonyms.yaml").unlink()
    svc.delete_synonyms(index, ["s"], client=shop)

    drift = svc.apply_config(pulled, client=shop, check=True)
    applied = svc.apply_config(pulled, client=shop)

    assert not drift.complete
    assert "-hitsPerPage: 3" in repr(drift)
    assert applied.change_ids
    assert shop.get_settings(index)["hitsPerPage"] == 20
    assert list(svc.read_rules(index, client=shop)["objectID"]) == ["r0"]
    assert svc.read_synonyms(index, client=shop).empty


def test_replicas_come_from_files(index: str, shop: svc.Client, tmp_path: Path) -> None:
    names = [f"{index}_cheap", f"virtual({index}_new)"]
    svc.set_settings(index, {"replicas": names}, client=shop)
    svc.set_settings(f"{index}_cheap", {"ranking": ["asc(price)"], "customRanking": []},
                     client=shop)  # fmt: skip
    indices = [index, f"{index}_cheap", f"{index}_new"]
    svc.pull_config(tmp_path, indices, client=shop)

    svc.apply_config(tmp_path)

    assert svc.apply_config(tmp_path, check=True).complete
    assert svc.current().get_settings(f"{index}_cheap")["primary"] == index
    assert not svc.current().get_settings(f"{index}_cheap").get("customRanking")


def test_a_replica_never_takes_the_name_of_another_index(
    index: str, shop: svc.Client, tmp_path: Path
) -> None:
    svc.set_settings(index, {"replicas": [f"{index}_cheap"]}, client=shop)
    svc.pull_config(tmp_path, [index], client=shop)
    svc.push([{"objectID": "own"}], f"{index}_cheap", progress=False)

    for check in (True, False):  # the primary does not exist here
        with pytest.raises(BadInput, match="would lose its records"):
            svc.apply_config(tmp_path, check=check)

    assert list(svc.read_browse(f"{index}_cheap")["objectID"]) == ["own"]


def test_a_file_that_is_wrong_stops_everything(pulled: Path, index: str, shop: svc.Client) -> None:
    (pulled / "zzz").mkdir()
    (pulled / "zzz" / "settings.yaml").write_text("hitsPerPge: 3\n")
    svc.set_settings(index, {"hitsPerPage": 3}, client=shop)

    with pytest.raises(BadInput, match=r"zzz.settings\.yaml: .*did you mean `hitsPerPage`"):
        svc.apply_config(pulled, client=shop)

    assert shop.get_settings(index)["hitsPerPage"] == 3


def test_the_command_has_exit_status_1_on_drift(
    pulled: Path, index: str, shop: svc.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["apply-config", str(pulled), "--profile", "shop"]

    assert main([*words, "--check"]) == 0
    svc.set_settings(index, {"hitsPerPage": 3}, client=shop)
    assert main([*words, "--check"]) == 1
    assert f"+++ b/{index}/settings.yaml" in capsys.readouterr().out
    assert main(["pull-config", str(pulled), index, "--profile", "shop", "--check"]) == 1
    assert main(words) == 2
    for check in ("apply-config", "pull-config"):
        nowhere = [check, str(pulled / "none"), "no-such-index", "--profile", "shop", "--check"]
        assert main(nowhere) == 2
    assert main([*words, "--yes"]) == 0
    assert main([*words, "--check"]) == 0


def test_a_key_that_lacks_a_right_writes_nothing(
    pulled: Path, index: str, shop: svc.Client, production: Any, profiles: Path
) -> None:
    svc.set_settings(index, {"hitsPerPage": 3}, client=shop)
    write_profile(profiles, "reader", production, make_key(shop, "settings"))

    assert main(["apply-config", str(pulled), "--profile", "reader", "--check"]) == 1
    with pytest.raises(KeyRefused, match="`editSettings`"):
        svc.apply_config(pulled, client=client_of("reader"))


@pytest.mark.parametrize("name", ["a/b", "..", ".", "ü:x", "a b", "trailing ", "50%"])
def test_folders_have_names_that_every_file_system_takes(name: str) -> None:
    from urllib.parse import unquote

    folder = folder_name(name)

    assert unquote(folder) == name
    assert not {*folder} & {*'/\\:*?"<>|'}
    assert folder.strip(". ") == folder


# The longest name that the service takes has 255 characters.
LONG = ("商品" * 42, "a" * 255, "ü" * 128, "商" * 29, "%" * 200, "😀" * 64)


@pytest.mark.parametrize("name", [*LONG, "CON", "nul.txt", "com1"])
def test_folders_of_long_and_reserved_names_are_short_and_unique(name: str, tmp_path: Path) -> None:
    folder = folder_name(name)

    assert len(folder) <= 120
    assert not {*folder} & {*'/\\:*?"<>|'}
    assert folder != folder_name(f"{name}x")
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "index.txt").write_text(f"{name}\n", encoding="utf-8")
    assert list_folders(tmp_path) == {name: tmp_path / folder}


def test_names_that_differ_by_case_have_folders_that_differ_otherwise(tmp_path: Path) -> None:
    names = ["PRODUCTS", "Products", "products", "other"]

    folders = assign_folders(tmp_path, names)

    assert len({path.name.casefold() for path in folders.values()}) == 4
    assert folders["products"].name == "products"
    for index, path in folders.items():
        path.mkdir()
        (path / "index.txt").write_text(index)
    assert assign_folders(tmp_path, names) == folders  # and again
    assert list_folders(tmp_path) == folders


def test_a_folder_of_an_earlier_version_is_kept(tmp_path: Path) -> None:
    (tmp_path / "Products").mkdir()

    folders = assign_folders(tmp_path, ["products", "Products"])

    assert folders["Products"] == tmp_path / "Products"
    assert folders["products"].name.startswith("products~")


def test_indices_with_long_and_similar_names_are_pulled_and_applied(
    shop: svc.Client, tmp_path: Path
) -> None:
    names = [LONG[0], LONG[2], LONG[3], "Shop", "shop"]
    for number, name in enumerate(names):
        svc.set_settings(name, {"hitsPerPage": number + 2}, client=shop)

    pulled = svc.pull_config(tmp_path / "search", names, client=shop)
    for name in names:
        svc.set_settings(name, {"hitsPerPage": 99}, client=shop)
    svc.apply_config(tmp_path / "search", client=shop)

    assert pulled.complete
    live = [shop.get_settings(name)["hitsPerPage"] for name in names]
    assert live == [2, 3, 4, 5, 6]
    assert svc.pull_config(tmp_path / "search", names, check=True, client=shop).complete


def test_after_an_error_no_file_of_a_pull_is_written(shop: svc.Client, tmp_path: Path) -> None:
    names = ["first-of-two", "second-of-two"]
    for name in names:
        svc.set_settings(name, {"hitsPerPage": 7}, client=shop)
    folder = tmp_path / "search"
    svc.pull_config(folder, names[:1], client=shop)
    before = (folder / names[0] / "settings.yaml").read_bytes()
    svc.set_settings(names[0], {"hitsPerPage": 8}, client=shop)
    (folder / names[1]).symlink_to(tmp_path / "nowhere" / "deep")

    with pytest.raises(BadInput, match=r"cannot be written: .*; no file was changed"):
        svc.pull_config(folder, names, client=shop)

    assert (folder / names[0] / "settings.yaml").read_bytes() == before
    assert sorted(path.name for path in folder.rglob("*") if path.name.startswith(".")) == []


def test_all_indices_are_listed(index: str, shop: svc.Client) -> None:
    assert index in svc.data.client.background_loop.run(list_own_indices(shop.aio))
