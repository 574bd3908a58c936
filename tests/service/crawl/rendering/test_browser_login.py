"""Logins with a browser: which forms are filled in, what is kept, and what is reported."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.extraction import Extractors
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.rendering.shop import SHOP, crawl_shop, wait_for_browsers
from tests.service.crawl.site import Asked, Reply, Site, html

pytestmark = pytest.mark.slow
TO_HOME = {"Location": "/home", "Set-Cookie": "session=s3cret; HttpOnly; Path=/"}
FORM = """<!doctype html><title>Login</title>
<form action="/search"><input name="q" placeholder="Search"><button>Search</button></form>
<form method="post" action="/session">
  <input type="hidden" name="csrf" value="c1"><input name="user" autocomplete="username">
  <input name="pass" type="password"><input type="submit" value="Log in">
</form>"""
SCRIPTED = """<!doctype html><title>Login</title><div id=app></div><script>
setTimeout(() => {
  app.innerHTML = `<input id=user type=email><input id=pass type=password>
                   <button type=button>Help</button><button type=submit>Log in</button>`;
  app.querySelector("[type=submit]").onclick = async () => {
    const body = new URLSearchParams({csrf: "c1", user: user.value, pass: pass.value});
    const reply = await fetch("/session", {method: "POST", body, redirect: "follow"});
    if (reply.ok) { document.cookie = "seen=1; path=/"; app.innerHTML = "Welcome"; }
  };
}, 300);
</script>"""
TWO_STEPS = """<!doctype html><title>Login</title><div id=app>
<input id=user type=text></div><script>
user.addEventListener("keydown", event => {
  if (event.key !== "Enter") return;
  app.innerHTML = `<form method=post action=/session><input type=hidden name=csrf value=c1>
    <input type=hidden name=user value="${user.value}"><input name=pass type=password></form>`;
});
</script>"""
HOSTILE = f"""{FORM}<script>
alert("hello"); for (let n = 0; n < 20; n++) open("/popup"); onbeforeunload = () => "stay";
</script>"""


def accept(asked: Asked) -> Reply:
    """Answer the form: a session for Ann, and the form again for others."""
    form = parse_qs(asked.body.decode())
    if (form.get("user"), form.get("pass"), form.get("csrf")) == (["ann"], ["pw&1"], ["c1"]):
        return Reply(status=302, headers=TO_HOME)
    return Reply(FORM.encode())


def guard(asked: Asked) -> Reply:
    if "session=s3cret" in asked.headers.get("cookie", ""):
        return Reply(html("Orders", ["/orders/1"]).encode())
    return Reply(status=302, headers={"Location": "/login"})


def open_site(site: Site, form: str, **login: object) -> dict[str, Any]:
    """Put a site behind a login there; returns the configuration."""
    site.page("/login", form)
    site.page("/home", html("Home"))
    site.answer("/session", accept)
    for path in ("/", "/orders/1"):
        site.answer(path, guard)
    request = {"url": f"{site.url}/login", "username": "ann", "password": "pw&1", **login}
    return site.config(login={"browserRequest": request})


@pytest.mark.parametrize(
    "form", [FORM, SCRIPTED, TWO_STEPS, HOSTILE], ids=["plain", "scripted", "two steps", "hostile"]
)
def test_pages_behind_a_login_are_crawled(site: Site, crawler: Crawler, form: str) -> None:
    ledger = crawler.crawl(open_site(site, form))

    assert {url: one.reason for url, one in ledger.outcomes.items()} == {
        f"{site.url}{path}": "success" for path in ("/", "/orders/1")
    }
    assert site.paths().count("/session") == 1
    assert "/popup" not in site.paths()
    assert wait_for_browsers() == []


def test_rendered_pages_have_the_session_too(site: Site, crawler: Crawler) -> None:
    config = {**open_site(site, FORM), "renderJavaScript": True}

    ledger = crawler.crawl(config)

    assert [one.reason for one in ledger.outcomes.values()] == ["success", "success"]
    assert wait_for_browsers() == []


def test_cookies_are_sent_to_their_own_host_only(site: Site, crawler: Crawler) -> None:
    with Site() as other:
        other.url = other.url.replace("127.0.0.1", "localhost")
        other.page("/", html("Other"))
        config = open_site(site, FORM)
        config["startUrls"] = [f"{site.url}/", f"{other.url}/"]
        config["actions"][0]["pathsToMatch"] = ["**"]

        ledger = crawler.crawl(config)

    assert ledger.outcomes[f"{site.url}/orders/1"].reason == "success"
    assert [asked.headers.get("cookie") for asked in other.asked] == [None] * len(other.asked)
    assert other.asked


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "wrong password": (FORM, {"password": "x"}, "is still there after it was sent; check"),
    "no form": (html("Nothing"), {}, "has no form with a field for a password"),
    "search form only": (html("x", head="<input name=q>"), {}, "has no form with a field"),
    "hidden form": (f"<div hidden>{FORM}</div>", {}, "has no form with a field"),
    "no cookie": (FORM.replace("/session", "/nothing"), {}, "set no cookie after its form"),
    "status": (FORM.replace("/session", "/forbidden"), {}, "refuses the login with status 403"),
    "scripts that never end": (f"{FORM}<script>for (;;) ;</script>", {"waitTime": {"max": 1000}},
                               "scripts of .* did not end in time"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_login_that_fails_is_reported(site: Site, crawler: Crawler, name: str) -> None:
    form, login, message = REFUSED[name]
    site.page("/nothing", html("Thanks"))
    site.page("/forbidden", html("No"), status=403)
    config = open_site(site, form, **login)

    with pytest.raises(BadInput, match=message) as raised:
        crawler.crawl(config)

    assert "login.browserRequest" in str(raised.value)
    assert "pw&1" not in str(raised.value)
    assert "/" not in site.paths()
    assert wait_for_browsers() == []


@pytest.mark.parametrize("seconds", [0.0, 2.0], ids=["in time", "later than the wait"])
@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://169.254.169.254/"])
def test_a_login_does_not_reach_private_addresses(
    site: Site, engine: Extractors, address: str, seconds: float
) -> None:
    config = open_site(site, FORM)
    site.page("/login", status=302, headers={"Location": address}, seconds=seconds)
    config["startUrls"] = [f"{SHOP}/"]
    options = {"url": f"{SHOP}/login", "waitTime": {"max": 1000}}
    config["login"]["browserRequest"].update(options)

    with pytest.raises(BadInput, match=r"`login.browserRequest`: .*private"):
        crawl_shop(site, engine, config)

    assert wait_for_browsers() == []
