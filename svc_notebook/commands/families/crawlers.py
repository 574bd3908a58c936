"""Verbs for crawlers and domains, as rows of the verb table."""

from __future__ import annotations

from svc_notebook.commands.verb import BodyDocument, Option, Verb, operand

_HOME = "svc_notebook.functions.blocking"
CRAWLER = operand("crawler", "the crawler's name, or its id", completes="crawler")
_WAIT = (
    Option("wait", "wait until its records are live", bool),
    Option("timeout", "seconds to wait at the most; as long as it takes unless given", float),
)
_CONFIG = operand(
    "file", "a JSON file of its configuration; or say --from, or give a body", completes="path",
    argument="config",
)  # fmt: skip
_CONFIG_FROM = Option(
    "from", "a variable holding the configuration, as a dict", completes="variable",
    argument="config", faces=("magic",),
)  # fmt: skip
_BODY = BodyDocument("config", dict, many=False)

CRAWLING: tuple[Verb, ...] = (
    Verb(
        "crawlers", "List the crawlers and how each stands",
        f"{_HOME}.read_crawlers",
        examples=("crawlers",),
    ),
    Verb(
        "crawlers show", "Read how a crawler stands, and its configuration",
        f"{_HOME}.get_crawler",
        operands=(CRAWLER,),
        examples=("crawlers show docs",),
    ),
    Verb(
        "crawlers create", "Make a crawler",
        f"{_HOME}.create_crawler",
        operands=(operand("name", "what it is called"), _CONFIG), options=(_CONFIG_FROM,),
        body="configuration", document=_BODY,
        examples=("crawlers create docs docs-crawler.json",),
    ),
    Verb(
        "crawlers config", "Change top-level properties of a crawler's configuration",
        f"{_HOME}.configure_crawler",
        operands=(CRAWLER, _CONFIG),
        options=(
            _CONFIG_FROM,
            Option("whole", "put it in place of the whole configuration", bool),
        ),
        body="configuration", document=_BODY,
        examples=("crawlers config docs changes.json", "crawlers config docs all.json --whole"),
    ),
    Verb(
        "crawlers rename", "Give a crawler another name",
        f"{_HOME}.rename_crawler",
        operands=(CRAWLER, operand("name", "the new name")),
        examples=("crawlers rename docs manual",),
    ),
    Verb(
        "crawlers run", "Let a crawler go on, or wait for its next schedule",
        f"{_HOME}.run_crawler",
        operands=(CRAWLER,),
        examples=("crawlers run docs",),
    ),
    Verb(
        "crawlers pause", "Ask a crawler to pause",
        f"{_HOME}.pause_crawler",
        operands=(CRAWLER,),
        examples=("crawlers pause docs",),
    ),
    Verb(
        "crawlers reindex", "Start a whole crawl, or start it again",
        f"{_HOME}.reindex_crawler",
        operands=(CRAWLER,), options=_WAIT,
        examples=("crawlers reindex docs", "crawlers reindex docs --wait"),
    ),
    Verb(
        "crawlers test", "Try one URL; nothing is kept",
        f"{_HOME}.try_url",
        operands=(
            CRAWLER, operand("url", "the URL"),
            operand("file", "a JSON file of another configuration; or say --from, or give a body",
                    completes="path", argument="config", required=False),
        ),
        options=(_CONFIG_FROM,),
        body="configuration", document=_BODY,
        examples=("crawlers test docs https://example.com/page",),
    ),
    Verb(
        "crawlers crawl", "Crawl URLs now",
        f"{_HOME}.crawl_urls",
        operands=(CRAWLER, operand("urls", "the URLs", list[str], rest=True)),
        options=(
            Option("from", "a variable holding them, a column for one", completes="variable",
                   argument="urls", faces=("magic",)),
            Option("save", "visit them in later crawls, too; with `false` never", bool | None),
            *_WAIT,
        ),
        examples=("crawlers crawl docs https://example.com/a https://example.com/b --wait",),
    ),
    Verb(
        "crawlers stats", "Say how the URLs of the last crawl ended",
        f"{_HOME}.read_crawler_urls",
        operands=(
            operand("crawlers", "names or ids", list[str], completes="crawler", rest=True),
        ),
        examples=("crawlers stats docs",),
    ),
    Verb(
        "crawlers urls", "Say how each URL of the last crawl ended (local service)",
        f"{_HOME}.read_crawled_urls",
        operands=(
            operand("crawlers", "names or ids", list[str], completes="crawler", rest=True),
        ),
        options=(
            Option("status", "only those that ended so: DONE, SKIPPED or FAILED"),
            Option("reason", "only those with this reason, such as http_404"),
            Option("limit", "the most URLs of a crawler", int),
        ),
        examples=("crawlers urls docs --status FAILED", "crawlers urls docs --reason http_404"),
    ),
    Verb(
        "crawlers tasks", "Say whether a crawler's task is still to do, or wait until it is done",
        f"{_HOME}.crawler_task",
        operands=(CRAWLER, operand("task", "the task's id")),
        options=(
            Option("wait", "wait until it is done", bool),
            Option("timeout", "seconds to wait at the most", float),
        ),
        examples=("crawlers tasks docs 98458796 --wait",),
    ),
    Verb(
        "crawlers cancel", "Cancel the task that blocks a crawler",
        f"{_HOME}.cancel_crawler_task",
        operands=(CRAWLER, operand("task", "the task's id, if it is known", required=False)),
        examples=("crawlers cancel docs",),
    ),
    Verb(
        "domains", "List the domains that crawlers may visit",
        f"{_HOME}.read_domains",
        options=(Option("app-id", "only of this application"),),
        examples=("domains",),
    ),
)  # fmt: skip
