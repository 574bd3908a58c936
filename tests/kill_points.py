"""Processes that are killed before or after one of the writes of a call, and what they change."""

from __future__ import annotations

from typing import Any, Literal

from tests.conftest import Running
from tests.process_template import run_code

KILLED = """
import os, sys
import svc_notebook as svc
from svc_notebook.data.client.transport.sender import HttpSender
last, moment = int(sys.argv[4]), sys.argv[5]
writes = 0
send = HttpSender.send
async def counted(self, endpoint, spec):
    global writes
    if endpoint.reads or endpoint.verb == "GET":
        return await send(self, endpoint, spec)
    writes += 1
    if writes > last and moment == "before":
        os._exit(9)
    answer = await send(self, endpoint, spec)
    if writes > last:
        os._exit(9)
    return answer
HttpSender.send = counted
svc.connect(url=sys.argv[1], app_id=sys.argv[2], api_key=sys.argv[3])
"""
Moment = Literal["before", "after"]
RULE: Any = {
    "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
    "consequence": {"params": {"filters": "brand:Acme"}},
}
FIRST: Any = {
    "settings": {"attributesForFaceting": ["brand"], "hitsPerPage": 7},
    "rules": [{"objectID": "filter", **RULE}],
}
# Takes the facet and the rule that filters by it away, and adds another pair of them.
SECOND: Any = {
    "settings": {"attributesForFaceting": ["name"], "hitsPerPage": 9},
    "synonyms": [{"objectID": "light", "type": "synonym", "synonyms": ["lamp", "light"]}],
    "rules": [
        {"objectID": "filter", "conditions": RULE["conditions"],
         "consequence": {"params": {"filters": "name:'red lamp'"}}}
    ],
}  # fmt: skip


def run_killed(service: Running, call: str, write: int, moment: Moment) -> bool:
    """Run a call that is killed before or after a write; return whether it finished first."""
    arguments = [service.url, service.appId, service.adminKey, str(write), moment]
    status, errors = run_code(f"{KILLED}{call}", arguments)
    assert status in {0, 9}, errors
    return status == 0
