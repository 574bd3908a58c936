import marimo

app = marimo.App()


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md("""
    # Search in marimo

    In marimo, cells run again when a value that they read changes. Here tables and scores follow three editors:
    what is searched, what is judged, and what is drafted. The notebook takes five minutes and needs no account.
    """)
    return (mo,)


@app.cell
def _():
    import pandas as pd

    import svc_notebook as svc

    svc.connect("local")
    svc.push(svc.samples.products(), "products", id="sku", if_exists="replace", progress=False)
    return pd, svc


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Follow a search

    `mo.ui.anywidget` makes an editor an element of marimo. Its `value` has what you decided: the query, the other
    search parameters, the selected hit, and the drafts of pinned and hidden hits. Type, or filter by a facet.
    """)
    return


@app.cell
def _(mo, svc):
    search = mo.ui.anywidget(svc.edit.query("products", "desk lamp", height=420))
    search
    return (search,)


@app.cell
def _(search, svc):
    query, parameters = search.value["query"], search.value["parameters"]
    hits = svc.search("products", query, **parameters)
    hits[["name", "brand", "price", "rating"]]
    return hits, query


@app.cell
def _(hits, mo, query):
    mo.md(f"The hits of “{query}” cost **{hits['price'].median():.2f}** in the median.")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Judge, and see the score

    Press `0` to `3` on a hit. `judged` has the pairs that you have judged, and the score of the index follows.
    """)
    return


@app.cell
def _(mo, svc):
    queries = ["desk lamp", "wool blanket", "mug"]
    judging = mo.ui.anywidget(svc.edit.judgments("products", queries, depth=5, height=420))
    judging
    return (judging,)


@app.cell
def _(judging, mo, pd, svc):
    judgments = pd.DataFrame(judging.value["judged"])
    mo.stop(judgments.empty, mo.md("*Judge a hit above to see a score.*"))
    svc.tuning.measure("products", judgments, ["ndcg@10", "judged@10"])
    return (judgments,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Draft a setting, and see its impact

    Change `customRanking` to `desc(reviews)`, for instance. `draft` has the changed settings; nothing is written before
    *Apply*. The cell below tries them on your judgments.
    """)
    return


@app.cell
def _(mo, svc):
    settings = mo.ui.anywidget(svc.edit.settings("products", height=420))
    settings
    return (settings,)


@app.cell
def _(judgments, mo, settings, svc):
    draft = settings.value["draft"]
    mo.stop(not draft, mo.md("*Change a setting above to see its impact.*"))
    svc.tuning.impact("products", draft, judgments, judgments)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Next

    `marimo run 06-search-in-marimo.py` shows the notebook as an application, and `svc.edit("products")` is the
    workbench with all editors, whose `value` has `search`, `selected`, `judged` and `draft`.
    """)
    return


if __name__ == "__main__":
    app.run()
