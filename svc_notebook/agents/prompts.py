"""Prompts for the three usual jobs, each with the name of an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from svc_notebook.errors import BadInput, did_you_mean


@dataclass(frozen=True)
class Prompt:
    """The text of a job; `{index}` in it is the index that the user names."""

    name: str
    description: str
    text: str


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "mend_zero_results",
            "Find searches without results, and plan synonyms for them",
            "Find searches of the index `{index}` that have no results: call `read_no_results`, "
            "and `why` for the most frequent of them. Where another word of the records means the "
            "same, propose a synonym; a misspelt or unrelated query needs none. Try all synonyms "
            "together by `impact` with these queries, which changes nothing. Show the queries "
            "before and after. If `plan_change` is offered, plan what helps and show the plan. Do "
            "not call `apply_plan` before the user agrees to the plan.",
        ),
        Prompt(
            "improve_ranking",
            "Find out why judged queries of an index score low, and plan a change",
            "Improve the ranking of the index `{index}`: call `evaluate`, then `diagnose`, with "
            "the judgments of the server or those that the user gives. Explain the findings with "
            "the most queries, and `explain` the first hits of one query of each. Try the best "
            "proposal by `impact` with the judgments, and say how the score changes, with its "
            "interval, and which queries lose. If `plan_change` is offered, plan the change and "
            "show the plan. Do not call `apply_plan` before the user agrees to it.",
        ),
        Prompt(
            "review_deployment",
            "Review what a deployment of an index would change",
            "Review the deployment of the index `{index}`: ask for the profile of the target if "
            "the user did not name it, call `plan_deployment`, and explain each change in a "
            "sentence, with its risk for searches: removed facets that rules filter by, fewer "
            "searchable attributes, another order of criteria, removed synonyms. Compare with "
            "`read_history`, and name the changes that nobody explained. Do not call `apply_plan` "
            "before the user agrees.",
        ),
    )
}


def fill_prompt(name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a prompt with its arguments."""
    if name not in PROMPTS:
        raise BadInput(f"there is no prompt `{name}`{did_you_mean(name, PROMPTS)}")
    if not arguments.get("index"):
        raise BadInput(f"the prompt `{name}` needs `index`: the name of the index")
    return PROMPTS[name].text.replace("{index}", arguments["index"])
