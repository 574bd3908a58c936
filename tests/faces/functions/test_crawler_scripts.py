"""Configurations of crawlers as JavaScript, in the shapes that public configurations have."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import BadInput, Refused
from svc_notebook.faces.functions import crawler_scripts
from svc_notebook.faces.functions.blocking import (
    configure_crawler,
    create_crawler,
    export_crawler,
    get_crawler,
    try_url,
)
from svc_notebook.faces.functions.crawler_scripts import MASK, is_script, read_script, write_script
from svc_notebook.faces.magics.extension import run
from svc_notebook.service.crawl.extraction import Extractors
from tests.conftest import Running, start_service, stop_service
from tests.service.crawl.site import Site

Literal = str

# Extractors of public configurations, by what they do first and what they return.
EXTRACTORS = [
    "({ helpers }) => helpers.docsearch({ recordProps: { lvl1: ['.x h1', 'h1'], content: 'p' } })",
    """({ $, helpers }) => {
        // Removing DOM elements that are not crawled
        const toRemove = ".hash-link, nav";
        $(toRemove).remove();

        return helpers.docsearch({
          recordProps: {
            lvl0: { selectors: "", defaultValue: "Guides" },
            lvl1: "", lvl2: `main h2`,
            content: "p, li",
            tags: { defaultValue: ["docs"] },
            pageRank: "30",
          },
          indexHeadings: { from: 1, to: 6 },
          aggregateContent: true,
          recordVersion: "v3",
        });
      }""",
    "({ $ }) => { const text = $.text(); return ['b'].some((t) => text.includes(t)) ? [] : [{}]; }",
    "function ({ url, $ }) { return [{ objectID: url.href, title: $('title').text() }] }",
    "async ({ helpers }) => helpers.page({ recordProps: { title: 'head > title' } })",
    "({ helpers, $ }) => helpers.article({ $ }) ?? helpers.product({ $ })",
    r"({ url }) => (/\/v(\d+)\.\d+\/.*[\"'`]?/.test(url.pathname) ? [{ v: RegExp.$1 / 2 }] : [])",
    "({ url, helpers, fileType }) => helpers.splitContentIntoRecords({ baseRecord: { url } })",
]
SETTINGS = {
    "attributesForFaceting": ["type", "lang", "version", "docusaurus_tag"],
    "attributesToHighlight": ["hierarchy", "content"],
    "attributesToSnippet": ["content:10"],
    "camelCaseAttributes": ["hierarchy", "content"],
    "searchableAttributes": ["unordered(hierarchy.lvl0)", "content"],
    "distinct": True,
    "customRanking": ["desc(weight.pageRank)", "asc(weight.position)"],
    "ranking": ["words", "filters", "typo", "attribute", "proximity", "exact", "custom"],
    "minWordSizefor1Typo": 3,
    "ignorePlurals": True,
    "separatorsToIndex": "_\\'\"`",
    "userData": {"note": "a\nb ${x} // c"},
    "removeWordsIfNoResults": "allOptional",
}
MEMBERS: dict[str, list[Any]] = {
    "rateLimit": [1, 8, 2.5],
    "maxDepth": [10, None],
    "maxUrls": [5000],
    "renderJavaScript": [
        False,
        True,
        ["https://a.test/app/**"],
        {"enabled": True, "patterns": ["**"]},
    ],
    "sitemaps": [[], ["https://a.test/sitemap.xml"]],
    "exclusionPatterns": [[], ["**/**^((?!.html).)*", "!**/en/**", "https://a.test/(v1|v2)/**"]],
    "discoveryPatterns": [["https://a.test/**"]],
    "ignoreCanonicalTo": [True, False, ["https://a.test/**"]],
    "schedule": ["at 15:10 on Friday", "every 1 day at 3:00 pm", "never"],
    "safetyChecks": [{"beforeIndexPublishing": {"maxLostRecordsPercentage": 30}}],
    "initialIndexSettings": [{"docs": SETTINGS}, {"a-b.c": SETTINGS, "1st": {}}],
    "ignoreQueryParams": [["source", "utm_*"]],
    "requestOptions": [{"headers": {"User-Agent": 'docs "bot" it\'s'}}],
    "externalData": [[{"dataSourceId": "d", "type": "csv", "url": "https://a.test/d.csv"}]],
}


class Speller:
    """Writes values as people do: both quotes, bare names, comments and trailing commas."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self, value: Any) -> Literal:
        if isinstance(value, Source):
            return str(value)
        if isinstance(value, dict):
            return self._block("{}", [self._member(*item) for item in value.items()])
        if isinstance(value, list):
            return self._block("[]", [self.value(item) for item in value])
        return self._text(value) if isinstance(value, str) else json.dumps(value)

    def _text(self, value: str) -> Literal:
        quote = self.random.choice("\"'`")
        escaped = json.dumps(value)[1:-1].replace('\\"', '"').replace(quote, f"\\{quote}")
        escaped = escaped.replace("${", "\\${")
        return f"{quote}{escaped}{quote}"

    def _member(self, name: str, value: Any) -> Literal:
        if isinstance(value, Source) and str(value).startswith("recordExtractor("):
            return str(value)
        key = name if name.isidentifier() and self.random.random() < 0.8 else self._text_key(name)
        return f"{key}: {self.value(value)}"

    def _text_key(self, name: str) -> Literal:
        return f"'{name}'" if self.random.random() < 0.5 else json.dumps(name)

    def _block(self, brackets: str, parts: list[Literal]) -> Literal:
        comment = self.random.choice(["", ' // it\'s a "note"', " /* a, b */"])
        comma = self.random.choice(["", ","]) if parts else ""
        return f"{brackets[0]}{comment}\n{(',' + chr(10)).join(parts)}{comma}\n{brackets[1]}"


class Source(str):
    """The source of a function."""


def make_config(seed: int) -> dict[str, Any]:
    choose = random.Random(seed)
    config: dict[str, Any] = {
        "rateLimit": 8,
        "startUrls": ["https://a.test/docs/", "https://a.test/"],
    }
    for name, values in MEMBERS.items():
        if choose.random() < 0.7:
            config[name] = choose.choice(values)
    config["actions"] = [
        {
            "indexName": choose.choice(["docs", "a-b.c"]),
            "pathsToMatch": ["https://a.test/docs**/**", "!https://a.test/docs/old/**"],
            "recordExtractor": Source(choose.choice(EXTRACTORS)),
        }
        for _ in range(choose.randint(1, 3))
    ]
    return config


def tagged(value: Any) -> Any:
    if isinstance(value, Source):
        return {"__type": "function", "source": str(value)}
    if isinstance(value, dict):
        return {name: tagged(member) for name, member in value.items()}
    return [tagged(item) for item in value] if isinstance(value, list) else value


FRAMES = [
    "new Crawler({})",
    "// A copy of the configuration\nnew Crawler({});\n",
    "module.exports = new Crawler({});",
    "module.exports = {};",
    "export default {};",
    "export default new Crawler({})",
    "const config = {};\nexport default config;",
    "import { Crawler } from '@vendor/crawler';\nexport const crawler = new Crawler({});",
    "import type { Config } from 'c';\nconst config: Config = {};\nexport { config as default };",
    "export default {} satisfies Config;",
    "{}",
    "/* backup */ ({})",
]


@pytest.mark.slow
def test_every_shape_is_read_as_it_means_and_read_again_as_written() -> None:
    offenders = []
    with Extractors(processes=1) as engine:
        for seed in range(150):
            config = make_config(seed)
            spelled = Speller(seed).value({"appId": "", "apiKey": "", **config})
            text = FRAMES[seed % len(FRAMES)].replace("{}", spelled)
            expected = {"appId": "", "apiKey": "", **tagged(config)}
            try:
                value = engine.read_configuration(*crawler_scripts._spellings(text))
                again = engine.read_configuration(write_script(value))
            except BadInput as error:
                offenders.append((seed, str(error)))
                continue
            if value != expected or again != expected:
                offenders.append((seed, "differs"))

    assert not offenders


@pytest.mark.skipif(not shutil.which("node"), reason="an independent JavaScript engine")
def test_what_is_written_means_the_same_to_another_engine() -> None:
    configs = [tagged(make_config(seed)) for seed in range(40)]
    configs.append({"__proto__": 1, "a b": {"\u2028": "\u2028\x00'"}, "k": [], "o": {}})
    show = (
        "JSON.stringify(c, (k, v) => typeof v === 'function' ? {__type: 'function', source: "
        "String(v)} : v)"
    )
    program = "".join(
        f"{{class Crawler {{constructor(c) {{console.log({show})}}}};\n{write_script(config)}}}\n"
        for config in configs
    )

    done = subprocess.run(["node"], input=program, capture_output=True, text=True, check=True)

    assert [json.loads(line) for line in done.stdout.strip().split("\n")] == configs


@pytest.mark.slow
def test_what_a_script_cannot_have_is_refused_by_name_and_place() -> None:
    refused = {
        "new Crawler({\n  appId: process.env.APP_ID })": r"`process.env.APP_ID` .*line 2, column",
        "new Crawler({ rateLimit: LIMIT })": "LIMIT is not defined .*write the value itself",
        "const base = require('./b');\nnew Crawler(base)": r'`require\("./b"\)` .*line 1',
        "import base from './b';\nexport default base": "modules are not read",
        "export default { exclusionPatterns: [/a/] }": r"`exclusionPatterns\[0\]` is a regular exp",
        "new Crawler({ schedule: new Date(0) })": "`schedule` is .*1970",
        "new Crawler({\n a: 1\n b: 2 })": "line 3, column 2.*must be JavaScript",
        "const a = {}": r"no configuration: write `new Crawler\(",
        "new Crawler({}); new Crawler({})": "2 crawlers",
        "const c = {}; c.c = c; new Crawler(c)": "`c` contains itself",
        f"new Crawler({{ login: {{ a: '{MASK}' }} }})": "`login.a` is masked",
    }
    wrong = []
    for text, message in refused.items():
        try:
            read_script(text, "crawler.js")
        except BadInput as error:
            if not str(error).startswith("crawler.js: ") or not re.search(message, str(error)):
                wrong.append((text, str(error)))
        else:
            wrong.append((text, "accepted"))

    assert not wrong


@pytest.mark.slow
def test_a_script_without_end_is_stopped() -> None:
    with Extractors(processes=1, seconds=1) as engine, pytest.raises(BadInput, match="1 seconds"):
        engine.read_configuration("for (;;) ; // {}")


def test_a_name_that_functions_do_not_have_is_warned_of_once() -> None:
    text = """const SKIP = '.nav';
const own = '.x';
new Crawler({
  linkExtractor: ({ $ }) => $(SKIP).get(),
  actions: [
    { indexName: 'a', recordExtractor: ({ $ }) => [$(SKIP).text()] },
    { indexName: 'b', recordExtractor: ({ $ }) => { const own = 1; return [{ own }] } },
  ],
})"""

    with pytest.warns(UserWarning, match="declare it inside") as caught:
        read_script(text)

    paths = "linkExtractor, actions[0].recordExtractor"
    [warning] = [str(warning.message) for warning in caught]
    assert warning.startswith(f"{paths}: `SKIP` is declared outside")


def test_a_body_is_a_script_by_its_beginning() -> None:
    scripts = [
        "new Crawler({",
        "// a\n{",
        "{ rateLimit: 8 }",
        "export default {}",
        "module.exports =",
    ]
    others = ['{"rateLimit": 8}', "rateLimit: 8\nstartUrls: [a]", "- a", "", "newest: Crawler"]

    assert [text for text in scripts + others if is_script(text)] == scripts


@pytest.fixture(scope="module")
def crawling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    process, running = start_service(tmp_path_factory.mktemp("crawling"), "--allow-private-crawl")
    yield running
    assert stop_service(process) == 0


@pytest.fixture
def client(crawling: Running) -> Iterator[Client]:
    with closing(client_of(crawling)) as client:
        yield client


@pytest.fixture
def client_without_crawlers(tmp_path: Path) -> Iterator[Client]:
    """A client of a service of its own: pulling all crawlers evaluates each of them."""
    process, running = start_service(tmp_path / "data", "--allow-private-crawl")
    with closing(client_of(running)) as client:
        yield client
    assert stop_service(process) == 0


def client_of(running: Running) -> Client:
    return Client(
        ClientConfig(
            running.appId, Secret(running.adminKey), url=running.url,
            crawler_user_id=running.crawlerUserId,
            crawler_api_key=Secret(running.crawlerApiKey),
        )
    )  # fmt: skip


def connect_to(client: Client) -> None:
    connection = client.connection
    assert connection.crawler_api_key
    svc.connect(
        url=connection.url, app_id=connection.app_id, api_key=connection.api_key.reveal(),
        crawler_user_id=connection.crawler_user_id,
        crawler_api_key=connection.crawler_api_key.reveal(),
    )  # fmt: skip


@pytest.mark.slow
def test_a_crawler_is_made_from_text_and_file_tried_and_exported(
    client: Client, tmp_path: Path
) -> None:
    with Site() as site:
        site.html("/", "Home", [])
        text = f"""new Crawler({{
          appId: '', apiKey: '', rateLimit: 8, startUrls: ['{site.url}/'],
          requestOptions: {{ headers: {{ Authorization: 's3cr3t' }} }},
          actions: [{{
            indexName: 'pages', pathsToMatch: ['{site.url}/**'],
            recordExtractor: {EXTRACTORS[3]},
          }}],
        }});"""
        file = tmp_path / "crawler.mjs"
        file.write_text(f"export default {text}", encoding="utf-8")

        create_crawler("from-text", text, client=client)
        create_crawler("from-file", file, client=client)
        exported = export_crawler("from-file", tmp_path / "out.js", client=client)
        tried = try_url("from-text", f"{site.url}/", client=client)
        configure_crawler("from-text", "({ maxUrls: 7 })", client=client)

    assert tried["records"][0]["records"] == [{"objectID": f"{site.url}/", "title": "Home"}]
    config = get_crawler("from-text", client=client)["config"]
    assert config["maxUrls"] == 7
    assert config["actions"][0]["recordExtractor"]["source"] == EXTRACTORS[3]
    assert exported == (tmp_path / "out.js").read_text(encoding="utf-8")
    assert "s3cr3t" not in exported
    assert "apiKey" not in exported
    with pytest.raises(BadInput, match=r"out.js: `requestOptions.headers.Authorization` is masked"):
        create_crawler("again", tmp_path / "out.js", client=client)
    (tmp_path / "out.js").write_text(exported.replace(MASK, "s3cr3t"), encoding="utf-8")
    create_crawler("again", tmp_path / "out.js", client=client)
    again = get_crawler("again", client=client)["config"]
    assert again["actions"] == config["actions"]


def test_a_service_takes_what_public_configurations_have(client: Client) -> None:
    refused = []
    for seed in range(30):
        config = tagged(make_config(seed))
        config.pop("renderJavaScript", None)  # it needs a browser
        try:
            client.create_crawler(f"shape-{seed}", config)
        except Refused as error:
            refused.append((seed, str(error)))

    assert not refused


@pytest.mark.slow
def test_the_magic_takes_a_script_as_its_body(client: Client) -> None:
    body = "new Crawler({ rateLimit: 2, actions: [{ indexName: 'a', recordExtractor: () => [] }] })"

    connect_to(client)

    run("crawlers create from-cell", body, {})

    assert get_crawler("from-cell", client=client)["config"]["rateLimit"] == 2


@pytest.mark.slow
def test_crawlers_are_files_beside_the_configuration_of_their_index(
    client_without_crawlers: Client, tmp_path: Path
) -> None:
    connect_to(client_without_crawlers)
    for index in ("a-manual", "a-shop"):
        svc.set_settings(index, {"hitsPerPage": 7})
    action = {"indexName": "manual", "recordExtractor": EXTRACTORS[3]}
    config = {
        "rateLimit": 8, "startUrls": ["https://a.test/"], "indexPrefix": "a-", "actions": [action],
        "requestOptions": {"headers": {"Authorization": "s3cr3t"}},
    }  # fmt: skip
    create_crawler("The manual", config)
    before = svc.current().get_crawler(str(get_crawler("The manual")["id"]), withConfig=True)
    folder, file = tmp_path / "search", tmp_path / "search" / "a-manual" / "The manual.crawler.js"

    japanese = "製品の説明書を集めるクローラー"  # whose encoded name is shortened
    create_crawler(japanese, config)

    action["indexName"] = "not crawled/yet"
    create_crawler("early", {**config, "actions": [action]})
    svc.pull_config(tmp_path / "all")
    assert (tmp_path / "all" / "a-not crawled%2Fyet" / "early.crawler.js").exists()
    assert svc.pull_config(tmp_path / "all", check=True).complete
    assert svc.apply_config(tmp_path / "all", check=True).complete

    pulled = svc.pull_config(folder, ["a-manual", "a-shop"])
    text = file.read_text(encoding="utf-8")

    assert file in pulled.written
    assert not [*(folder / "a-shop").glob("*.js")]
    assert "s3cr3t" not in text
    assert EXTRACTORS[3] in text
    file.write_text(f"// The team of the manual asked for it.\n{text}", encoding="utf-8")
    assert svc.pull_config(folder, "a-manual", check=True).complete
    assert not svc.pull_config(folder, "a-manual").written
    assert svc.apply_config(folder, check=True).complete
    svc.configure_crawler("The manual", {"maxUrls": 3})
    drift = svc.apply_config(folder, check=True)
    [row] = drift.changes.to_dict("records")
    assert (row["index"], row["scope"], row["name"]) == ("a-manual", "crawlers", "The manual")
    assert (row["kind"], row["before"], row["after"]) == ("changed", {"maxUrls": 3}, None)
    assert "-  maxUrls: 3," in repr(drift)
    svc.apply_config(folder)
    after = svc.current().get_crawler(before["id"], withConfig=True)
    assert after["config"] == before["config"]
    assert svc.apply_config(folder, check=True).complete


@pytest.mark.slow
def test_a_crawler_is_created_from_its_file_and_wrong_files_stop_everything(
    client: Client, tmp_path: Path
) -> None:
    connect_to(client)
    folder = tmp_path / "search" / "made"
    folder.mkdir(parents=True)
    file = folder / "made.crawler.js"
    text = (
        "export default {\n  rateLimit: 8, startUrls: ['https://a.test/'],\n"
        "  actions: [{ indexName: 'made', recordExtractor: () => [] }],\n};\n"
    )
    file.write_text(text, encoding="utf-8")

    applied = svc.apply_config(tmp_path / "search")

    assert applied.changes["kind"].tolist() == ["new"]
    assert get_crawler("made")["config"]["rateLimit"] == 8
    assert not svc.current().index_exists("made")
    (folder / "settings.yaml").write_text("hitsPerPage: 3\n")
    masked = text.replace("rateLimit: 8", f"rateLimit: 9, login: {{ a: '{MASK}' }}")
    wrong = {
        "new Crawler({": "made.crawler.js: Unexpected end of input",
        text.replace("'made'", "'other'"): "its first action writes 'other', not made",
        masked: "login: a is masked, and no crawler has its value",
        text.replace("rateLimit", "rateLimits"): "did you mean `rateLimit`",
    }
    for content, message in wrong.items():
        file.write_text(content, encoding="utf-8")
        with pytest.raises((BadInput, Refused), match=message):
            svc.apply_config(tmp_path / "search")
    assert not svc.current().index_exists("made")
    connection = client.connection
    svc.connect(url=connection.url, app_id=connection.app_id,
                api_key=connection.api_key.reveal())  # fmt: skip
    with pytest.raises(BadInput, match="need `crawler_user_id`"):
        svc.apply_config(tmp_path / "search")
    file.unlink()
    svc.apply_config(tmp_path / "search")
    assert svc.current().get_settings("made")["hitsPerPage"] == 3
