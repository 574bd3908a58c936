"""Normalization of URLs."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.crawl.urls import MAX_PATH_DEPTH, UrlNormalizer, normalize, path_depth

SPELLINGS = {
    "HTTP://Shop.TEST:80/a#more": "http://shop.test/a",
    "https://shop.test:443": "https://shop.test/",
    "https://shop.test:8443/": "https://shop.test:8443/",
    "https://shop.test/a/../b/./c": "https://shop.test/b/c",
    "https://shop.test/a/%2e%2E/b": "https://shop.test/b",
    "https://shop.test/../../a/..": "https://shop.test/",
    "https://shop.test/%7euser/%e4%2f": "https://shop.test/~user/%E4%2F",
    "https://shop.test/caf\u00e9 au lait?q=\u00e9": "https://shop.test/caf%C3%A9%20au%20lait?q=%C3%A9",
    "https://shop.test/100%": "https://shop.test/100%25",
    "https://shop.test?": "https://shop.test/",
    "https://b\u00fccher.test/": "https://xn--bcher-kva.test/",
    "https://user:secret@shop.test/": "https://shop.test/",
    "https://shop.test./": "https://shop.test/",
    " https://shop.test/a\n/b ": "https://shop.test/a/b",
    "https://shop.test\\a": "https://shop.test/a",
    "https://shop.test/a\\b": "https://shop.test/a/b",
    "http://[::0001]:8080/": "http://[::1]:8080/",
    "http://[::1": None,
    "javascript:void(0)": None,
    "mailto:a@shop.test": None,
    "ftp://shop.test/": None,
    "//shop.test/": None,
    "http:///a": "http://a/",
    "http://a b/": None,
    "http://shop.test:99999/": None,
    "http://256.1.1.1/": None,
    "http://xn--0/": None,
    "http://xn--a.test/": None,
    "https://shop.test/" + "a" * 3000: None,
    "https://shop.test" + "/a" * (MAX_PATH_DEPTH + 2): None,
    "": None,
}


@pytest.mark.parametrize(("url", "spelled"), SPELLINGS.items())
def test_a_url_has_one_normalized_form(url: str, spelled: str | None) -> None:
    assert normalize(url) == spelled


parts = st.text(st.characters(codec="utf-8"), max_size=30)
urls = st.builds("{}://{}{}/{}?{}#{}".format, st.sampled_from(["http", "HTTPS"]),
                 st.sampled_from(["shop.test", "B\u00dcCHER.test", "127.0.0.1", "[::1]"]),
                 st.sampled_from(["", ":80", ":443", ":8080"]), parts, parts, parts)  # fmt: skip


@given(urls)
def test_normalization_is_idempotent(url: str) -> None:
    spelled = normalize(url)

    assert spelled is None or normalize(spelled) == spelled


@given(urls)
def test_a_normalized_url_is_sent_unchanged(url: str) -> None:
    spelled = normalize(url)

    assert spelled is None or httpx.URL(spelled).raw_path.decode() in spelled


near = st.from_regex(
    r"https?://[a-z0-9.-]{1,9}(:[0-9]{1,5})?/[a-zA-Z0-9._~/-]{0,12}(\?[a-z0-9=&.-]{0,9})?",
    fullmatch=True,
)


@given(near)
def test_the_fast_path_equals_full_normalization(url: str) -> None:
    # A fragment keeps a URL from the short way.
    assert normalize(url) == normalize(f"{url}#")


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_normalized_without_error(text: str) -> None:
    for url in (text, f"http://{text}", f"http://shop.test/{text}"):
        spelled = normalize(url)

        assert spelled is None or spelled.isascii()
        assert spelled is None or spelled.startswith(("http://", "https://"))


DEPTHS = {"": 1, "/": 1, "/foo": 1, "/foo/": 2, "/foo/bar": 2, "/foo/bar/": 3}


@pytest.mark.parametrize(("path", "depth"), DEPTHS.items())
def test_the_depth_of_a_path_counts_its_segments(path: str, depth: int) -> None:
    assert path_depth(f"http://shop.test{path}") == depth


def test_ignored_parameters_are_removed_and_the_others_keep_their_order() -> None:
    spelling = UrlNormalizer(ignored=("ref", "utm_*"))

    url = "http://shop.test/?page=1&ref=a&utm_source=doc&b=2"

    assert spelling.normalize_found(url) == "http://shop.test/?page=1&b=2"
    assert spelling.normalize_found("http://shop.test/?%72ef=1") == "http://shop.test/"


def test_aliases_apply_to_found_urls() -> None:
    spelling = UrlNormalizer(
        hosts={"dev.shop.test": "shop.test"}, paths={"shop.test": {"/foo": "/bar", "/x/": "/y/"}}
    )

    assert (
        spelling.normalize_found("https://dev.shop.test/foo/hello/")
        == "https://shop.test/bar/hello/"
    )
    assert spelling.normalize_found("https://shop.test/foobar") == "https://shop.test/foobar"
    assert spelling.normalize_found("https://shop.test/x/1") == "https://shop.test/y/1"
    assert spelling.normalize_seed("https://dev.shop.test/foo") == "https://dev.shop.test/foo"
