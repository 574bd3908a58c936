"""The verbs on crawlers, domains and events, as rows of the table."""

from __future__ import annotations

from svc_notebook.api.shapes import Event
from svc_notebook.verbs.verb import Document, Option, Verb, operand

_HOME = "svc_notebook.verbs.blocking"
CRAWLER = operand("crawler", "the crawler's id", completes="crawler")
_CONFIG = operand(
    "file", "a JSON file of its configuration; or say --from, or give a body", completes="path",
    argument="config",
)  # fmt: skip
_CONFIG_FROM = Option(
    "from", "a variable holding the configuration, as a dict", completes="variable",
    argument="config", faces=("magic",),
)  # fmt: skip
_BODY = Document("config", dict, many=False)

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
        examples=("crawlers show e0f6",),
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
        examples=("crawlers config e0f6 changes.json", "crawlers config e0f6 all.json --whole"),
    ),
    Verb(
        "crawlers rename", "Give a crawler another name",
        f"{_HOME}.rename_crawler",
        operands=(CRAWLER, operand("name", "the new name")),
        examples=("crawlers rename e0f6 manual",),
    ),
    Verb(
        "crawlers run", "Let a crawler go on, or wait for its next schedule",
        f"{_HOME}.run_crawler",
        operands=(CRAWLER,),
        examples=("crawlers run e0f6",),
    ),
    Verb(
        "crawlers pause", "Ask a crawler to pause",
        f"{_HOME}.pause_crawler",
        operands=(CRAWLER,),
        examples=("crawlers pause e0f6",),
    ),
    Verb(
        "crawlers reindex", "Start a whole crawl, or start it again",
        f"{_HOME}.reindex_crawler",
        operands=(CRAWLER,),
        examples=("crawlers reindex e0f6",),
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
        examples=("crawlers test e0f6 https://example.com/page",),
    ),
    Verb(
        "crawlers crawl", "Crawl URLs now",
        f"{_HOME}.crawl_urls",
        operands=(CRAWLER, operand("urls", "the URLs", list[str], rest=True)),
        options=(
            Option("from", "a variable holding them, a column for one", completes="variable",
                   argument="urls", faces=("magic",)),
            Option("save", "visit them in later crawls, too; with `false` never", bool | None),
        ),
        examples=("crawlers crawl e0f6 https://example.com/a https://example.com/b",),
    ),
    Verb(
        "crawlers stats", "Say how the URLs of the last crawl ended",
        f"{_HOME}.read_crawler_urls",
        operands=(
            operand("crawlers", "ids of crawlers", list[str], completes="crawler", rest=True),
        ),
        examples=("crawlers stats e0f6",),
    ),
    Verb(
        "crawlers tasks", "Say whether a crawler's task is still to do, or wait until it is done",
        f"{_HOME}.crawler_task",
        operands=(CRAWLER, operand("task", "the task's id")),
        options=(
            Option("wait", "wait until it is done", bool),
            Option("timeout", "seconds to wait at the most", float),
        ),
        examples=("crawlers tasks e0f6 98458796 --wait",),
    ),
    Verb(
        "crawlers cancel", "Cancel the task that blocks a crawler",
        f"{_HOME}.cancel_crawler_task",
        operands=(CRAWLER, operand("task", "the task's id, if it is known", required=False)),
        examples=("crawlers cancel e0f6",),
    ),
    Verb(
        "domains", "List the domains that crawlers may visit",
        f"{_HOME}.read_domains",
        options=(Option("app-id", "only of this application"),),
        examples=("domains",),
    ),
    Verb(
        "events send", "Report what users did",
        f"{_HOME}.send_events",
        operands=(
            operand("file", "a CSV, JSON or NDJSON file; or say --from, or give a body",
                    completes="path", argument="events"),
        ),
        options=(
            Option("from", "a variable holding them: an event, a list of them, a DataFrame",
                   completes="variable", argument="events", faces=("magic",)),
            Option("index", "index of those that name none", completes="index"),
        ),
        body="events", document=Document("events", Event),
        examples=("events send clicks.csv --index products",),
    ),
    Verb(
        "events delete", "Delete a user token's events",
        f"{_HOME}.delete_user_events",
        operands=(operand("user", "the user token"),),
        destructive="delete all events of the user token {user}",
        examples=("events delete user-42 --yes",),
    ),
)  # fmt: skip
