"""Completion of lines and bodies."""

from __future__ import annotations

import pytest

from svc_notebook.faces.commands.completion import complete_body, complete_line

RULES = ["get", "save", "import", "replace", "export", "delete", "clear", "list", "search"]


class Known:
    """Names as a service, a folder and a kernel would give them."""

    def indices(self) -> list[str]:
        return ["films", "products", "two words"]

    def attributes(self, index: str) -> list[str]:
        return {"films": ["title", "year"], "products": ["brand", "name"]}.get(index, [])

    def facets(self, index: str) -> list[str]:
        return {"films": ["genre"], "products": ["brand", "colour"]}.get(index, [])

    def values(self, index: str, facet: str) -> list[str]:
        brands = ["Acme", "Bolt & Co", "Acorn's", "AND"]
        return {("products", "brand"): brands, ("films", "genre"): ["Horror"]}.get(
            (index, facet), []
        )

    def columns(self, source: str) -> list[str]:
        return {"df": ["sku", "name"], "my.csv": ["title"]}.get(source, [])

    def named(self, kind: str, index: str) -> list[str]:
        return {"synonym": [f"pair-of-{index}"], "language": ["en", "fr"]}.get(kind, [])

    def profiles(self) -> list[str]:
        return ["local", "staging"]

    def variables(self) -> list[str]:
        return ["df", "other"]

    def paths(self, beginning: str) -> list[str]:
        return [path for path in ("data/", "my films.csv") if path.startswith(beginning)]


@pytest.mark.parametrize(
    ("typed", "fragment", "texts"),
    [
        ("sea", "sea", ["search"]),
        ("sy", "sy", ["synonyms"]),
        (
            "s",
            "s",
            [
                *("serve", "stop", "search", "show", "settings", "snapshot", "scratches"),
                *("synonyms", "sources", "status", "suggestions"),
            ],
        ),
        ("search f", "f", ["films"]),
        ("search ", "", ["films", "products", "'two words'"]),
        ("search 'two", "two", ["two words"]),
        ("search films lam", "lam", []),
        ("search films --hitsP", "--hitsP", ["--hitsPerPage"]),
        ("search films --HITSP", "--HITSP", ["--hitsPerPage"]),
        ("search films --rank", "--rank", ["--ranking"]),
        ("search films --typoTolerance ", "", ["true", "false", "min", "strict"]),
        ("search films --typoTolerance=s", "s", ["strict"]),
        ("search films --getRankingInfo f", "f", ["false"]),
        ("search films --facets ", "", ["genre"]),
        ("search products --facets brand,co", "co", ["colour"]),
        ("search products lamp --filters 'brand:x AND col", "col", ["colour"]),
        ("search films --columns ti", "ti", ["title"]),
        ('search films --attributesToRetrieve ["title", "y', "y", ["year"]),
        ("settings products --customRanking desc(na", "na", ["name"]),
        ("settings products --ranking ty", "ty", ["typo"]),
        ("settings products --ranking typo,desc(b", "b", ["brand"]),
        ("settings products --customRanking d", "d", ["desc("]),
        ("settings products --attributesForFaceting sea", "sea", ["searchable("]),
        ("settings products --attributesForFaceting searchable(b", "b", ["brand"]),
        ("settings products --replicas virt", "virt", ["virtual("]),
        ("settings products --replicas virtual(f", "f", ["films"]),
        ("search films --filters genre:", "", ["Horror"]),
        ("search films --filters genre:h", "h", ["Horror"]),
        ("search films --filters=genre:h", "h", ["Horror"]),
        ("search films --filters nothing:h", "h", []),
        ("search products --filters 'brand:Acme AND brand:ac", "ac", ["Acme"]),
        (
            'search products --filters "brand:',
            "",
            ["Acme", "'Bolt & Co'", "'AND'"],
        ),
        ("search products --filters \"brand:'bo", "bo", ["Bolt & Co"]),
        ("search products --filters brand:bo", "brand:bo", ["'brand:\"Bolt & Co\"'"]),
        ("delete products --filters brand:acm", "acm", ["Acme"]),
        ("search products --facetFilters brand:-acm", "acm", ["Acme"]),
        ('search products --facetFilters ["brand:Acme", "brand:bo', "bo", ["Bolt & Co"]),
        ("push films --from df --id s", "s", ["sku"]),
        ("push films --id s", "s", []),
        ("push films --from df --columns sku,na", "na", ["name"]),
        ('push films --from df --operations {"na', "na", ["name"]),
        ("load my.csv films --id ", "", ["title"]),
        ("connect st", "st", ["staging"]),
        ("search films --profile l", "l", ["local"]),
        ("push films --from ", "", ["df", "other"]),
        ("search films -o d", "d", ["df"]),
        ("load ", "", ["data/", "'my films.csv'"]),
        ("load 'my", "my", ["my films.csv"]),
        ("load my.csv pro", "pro", ["products"]),
        ("load my.csv films --if-exists re", "re", ["replace"]),
        ("load my.csv films --dry-run --res", "--res", ["--resume", "--reset-cursor"]),
        ("help sea", "sea", ["search"]),
        ("wait 7 --index f", "f", ["films"]),
        ("nothing ", "", []),
        ("synonyms s", "s", ["save", "search"]),
        (
            "settings ",
            "",
            ["set", "reset", "diff", "show", "list", "films", "products", "'two words'"],
        ),
        ("synonyms save fi", "fi", ["films"]),
        ("synonyms list fi", "fi", ["films"]),
        ("synonyms delete films p", "p", ["pair-of-films"]),
        ("synonyms save films --f", "--f", ["--from", "--forwardToReplicas"]),
        ("dictionaries settings stopwords --off en,f", "f", ["fr"]),
        ("dictionaries save st", "st", ["stopwords"]),
        ("settings reset films hitsP", "hitsP", ["hitsPerPage"]),
        ("help syn", "syn", ["synonyms"]),
        ("search films --nothing ", "", []),
        ("help synonyms s", "s", ["save"]),
        ("call get_obj", "get_obj", ["get_objects", "get_object"]),
        ("call get_object ", "", ["index=", "object_id=", "attributesToRetrieve=", "attributes="]),
        ("call get_object index=films o", "o", ["object_id="]),
        ("call get_object index=fi", "fi", ["films"]),
        ("call get_object object_id=fi", "fi", []),
        ("call search index=films hitsP", "hitsP", ["hitsPerPage="]),
        ("call nothing in", "in", []),
    ],
)
def test_line_is_completed(typed: str, fragment: str, texts: list[str]) -> None:
    found = complete_line(typed, "magic", Known())

    assert found.texts == texts
    assert typed.endswith(found.fragment)
    assert found.fragment == fragment


@pytest.mark.parametrize(
    ("line", "typed", "fragment", "texts"),
    [
        ("search films", "hitsP", "hitsP", ["hitsPerPage:"]),
        (
            "search films",
            "query: x\nfac",
            "fac",
            ["facetFilters:", "facets:", "facetingAfterDistinct:"],
        ),
        ("search films", "typoTolerance: m", "m", ["min"]),
        ("search films", "filters: ge", "ge", ["genre"]),
        ("search films", "filters: (genre:x OR g", "g", ["genre"]),
        ("search films", 'attributesToRetrieve: ["title", "', "", ["title", "year"]),
        ("search films", 'attributesToRetrieve: ["title",\n  "ye', "ye", ["year"]),
        ("search films lamp --page 2", "facets: ", "", ["genre"]),
        ("settings films", "ranking: fil", "fil", ["filters"]),
        ("settings films", "ranking: typo, asc(y", "y", ["year"]),
        ("settings films", "searchableAttributes:\n  - unordered(ti", "ti", ["title"]),
        ("search products", "filters: brand:bo", "bo", ['"Bolt & Co"']),
        ("search products", 'filters: brand:"bo', "bo", ["Bolt & Co"]),
        ("search products", "facetFilters:\n  - brand:bo", "bo", ["Bolt & Co"]),
        ("search products", '{"filters": "brand:bo', "bo", ["'Bolt & Co'"]),
        (
            "search products",
            '{"page": 1, "facetFilters": [["brand:Acme", "brand:ac',
            "ac",
            ["Acme", "Acorn's"],
        ),
        ("settings products", '{"ranking": ["ty', "ty", ["typo"]),
        ("rules save films", 'consequence: {"params": {"filt', "filt", ["filters"]),
        (
            "rules save films",
            '{"consequence": {"params": {"page": 1, "hitsP',
            "hitsP",
            ["hitsPerPage"],
        ),
        ("rules save products", 'consequence: {"params": {"filters": "brand:acm', "acm", ["Acme"]),
        ("rules save films", 'consequence: {"params": {"page": 1}, "filt', "filt", []),
        ("search films", '{"hitsP', "hitsP", ["hitsPerPage"]),
        ("search films", '{"page": 1,\n "hitsP', "hitsP", ["hitsPerPage"]),
        ("search films", '{"facets": ["ge', "ge", ["genre"]),
        ("search films", '{"attributesToRetrieve": ["title", "ye', "ye", ["year"]),
        ("settings products", "searchableAttr", "searchableAttr", ["searchableAttributes:"]),
        ("settings products", "customRanking: desc(", "", ["brand", "name"]),
        ("settings products", "filt", "filt", []),
        ("indices", "pa", "", []),
        ("search films", "unknown: x", "x", []),
        ("synonyms save films", "ty", "ty", ["type:"]),
        ("synonyms save films", "objectID: a\n---\ntype: pl", "pl", ["placeholder"]),
        ("rules save films", '[{"obj', "obj", ["objectID"]),
        ("settings set films", "hitsP", "hitsP", ["hitsPerPage:"]),
        ("synonyms films", "ty", "", []),
    ],
)
def test_body_is_completed(line: str, typed: str, fragment: str, texts: list[str]) -> None:
    found = complete_body(line, typed, Known())

    assert sorted(found.texts) == sorted(texts)
    assert found.fragment == fragment
