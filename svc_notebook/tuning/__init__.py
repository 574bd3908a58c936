"""Relevance tuning: judged queries, runs, metrics, and changes of the configuration.

Tables are plain DataFrames; see `svc_notebook.tuning.tables.tables`. Every function that calls the
service has a coroutine version in `aio`. Names are imported lazily, on first use; no module has the
name of a function.
"""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from svc_notebook.tuning.homes import COROUTINES

if TYPE_CHECKING:
    from svc_notebook.tuning import aio as aio
    from svc_notebook.tuning import clicks as clicks
    from svc_notebook.tuning.blocking import *
    from svc_notebook.tuning.changes.scratch import Scratch as Scratch
    from svc_notebook.tuning.changes.scratch import scratch as scratch
    from svc_notebook.tuning.changes.snapshots import Snapshot as Snapshot
    from svc_notebook.tuning.changes.snapshots import read_snapshot as read_snapshot
    from svc_notebook.tuning.diagnosis.plan import plan_diagnosis as plan_diagnosis
    from svc_notebook.tuning.evaluation.comparison import Comparison as Comparison
    from svc_notebook.tuning.evaluation.comparison import compare as compare
    from svc_notebook.tuning.evaluation.explanation import explain as explain
    from svc_notebook.tuning.evaluation.model_judge import ModelJudge as ModelJudge
    from svc_notebook.tuning.evaluation.rater_agreement import agreement as agreement
    from svc_notebook.tuning.evaluation.rater_agreement import disagreements as disagreements
    from svc_notebook.tuning.evaluation.rater_agreement import grade_agreement as grade_agreement
    from svc_notebook.tuning.evaluation.rater_agreement import next_to_judge as next_to_judge
    from svc_notebook.tuning.evaluation.scores import evaluate as evaluate
    from svc_notebook.tuning.evaluation.scores import summary as summary
    from svc_notebook.tuning.html_report.report import report as report
    from svc_notebook.tuning.interleaving.experiment import Interleaving as Interleaving
    from svc_notebook.tuning.interleaving.experiment import interleave as interleave
    from svc_notebook.tuning.interleaving.outcome import InterleavingOutcome as InterleavingOutcome
    from svc_notebook.tuning.interleaving.outcome import read_interleaving as read_interleaving
    from svc_notebook.tuning.plots import plot_confusion as plot_confusion
    from svc_notebook.tuning.plots import plot_deltas as plot_deltas
    from svc_notebook.tuning.plots import plot_density as plot_density
    from svc_notebook.tuning.plots import plot_grades as plot_grades
    from svc_notebook.tuning.plots import plot_judged as plot_judged
    from svc_notebook.tuning.plots import plot_tops as plot_tops
    from svc_notebook.tuning.plots import plot_variants as plot_variants
    from svc_notebook.tuning.plots import plot_zero_shares as plot_zero_shares
    from svc_notebook.tuning.tables.exchange_formats import read_qrels as read_qrels
    from svc_notebook.tuning.tables.exchange_formats import read_quepid as read_quepid
    from svc_notebook.tuning.tables.exchange_formats import read_trec_run as read_trec_run
    from svc_notebook.tuning.tables.exchange_formats import write_qrels as write_qrels
    from svc_notebook.tuning.tables.exchange_formats import write_quepid as write_quepid
    from svc_notebook.tuning.tables.exchange_formats import write_trec_run as write_trec_run
    from svc_notebook.tuning.tables.files import write_table as write_table
    from svc_notebook.tuning.tables.sampling import count_queries as count_queries
    from svc_notebook.tuning.tables.sampling import no_results as no_results
    from svc_notebook.tuning.tables.sampling import sample_queries as sample_queries
    from svc_notebook.tuning.tables.sampling import split as split
    from svc_notebook.tuning.tables.sampling import zero_shares as zero_shares
    from svc_notebook.tuning.tables.tables import check_judgments as check_judgments
    from svc_notebook.tuning.tables.tables import check_queries as check_queries
    from svc_notebook.tuning.tables.tables import check_runs as check_runs
    from svc_notebook.tuning.variants.search import plan_search as plan_search

    judge: Any

_HOMES = {
    "svc_notebook.tuning.diagnosis.plan": ("plan_diagnosis",),
    "svc_notebook.tuning.evaluation.rater_agreement": (
        "agreement", "disagreements", "grade_agreement", "next_to_judge",
    ),
    "svc_notebook.tuning.evaluation.model_judge": ("ModelJudge",),
    "svc_notebook.tuning.evaluation.comparison": ("Comparison", "compare"),
    "svc_notebook.tuning.evaluation.explanation": ("explain",),
    "svc_notebook.tuning.interleaving.experiment": ("Interleaving", "interleave"),
    "svc_notebook.tuning.interleaving.outcome": ("InterleavingOutcome", "read_interleaving"),
    "svc_notebook.tuning.tables.files": ("write_table",),
    "svc_notebook.tuning.plots": (
        "plot_confusion", "plot_deltas", "plot_density", "plot_grades", "plot_judged",
        "plot_tops", "plot_variants", "plot_zero_shares",
    ),
    "svc_notebook.tuning.html_report.report": ("report",),
    "svc_notebook.tuning.tables.exchange_formats": (
        "read_qrels", "read_quepid", "read_trec_run", "write_qrels", "write_quepid",
        "write_trec_run",
    ),
    "svc_notebook.tuning.tables.sampling": (
        "count_queries", "no_results", "sample_queries", "split", "zero_shares",
    ),
    "svc_notebook.tuning.evaluation.scores": ("evaluate", "summary"),
    "svc_notebook.tuning.changes.scratch": ("Scratch", "scratch"),
    "svc_notebook.tuning.variants.search": ("plan_search",),
    "svc_notebook.tuning.changes.snapshots": ("Snapshot", "read_snapshot"),
    "svc_notebook.tuning.tables.tables": ("check_judgments", "check_queries", "check_runs"),
}  # fmt: skip
_MODULES = ("aio", "clicks")
# By string, because editors are a higher layer: users look for the judgment editor here.
_FACES = {"judge": ("svc_notebook.faces.editors", "judgments")}


def __getattr__(name: str) -> Any:
    from svc_notebook.data.declarations import check_arguments
    from svc_notebook.errors import lacking_attribute, unchained_function

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _FACES:
        module, face = _FACES[name]
        return getattr(import_module(module), face)
    if name in COROUTINES:
        member = getattr(import_module(f"{__name__}.blocking"), name)
    else:
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise lacking_attribute(f"module {__name__!r}", name, __dir__())
        member = unchained_function(getattr(import_module(home), name))
        if isfunction(member):
            member = check_arguments(member)
    globals()[name] = member
    return member


def __dir__() -> list[str]:
    return sorted(
        {*_MODULES, *_FACES, *COROUTINES, *(name for names in _HOMES.values() for name in names)}
    )
