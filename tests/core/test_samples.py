"""The tables that come with the package."""

from __future__ import annotations

import pandas as pd

import svc_notebook as svc


def test_the_products_are_a_table_of_a_shop_and_the_same_every_time() -> None:
    products = svc.samples.products()

    pd.testing.assert_frame_equal(products, svc.samples.products())
    assert len(products) == 240
    assert products["sku"].is_unique
    assert products["name"].is_unique
    assert products["price"].between(1, 1000).all()
    assert products["rating"].dropna().between(3, 5).all()
    assert products["rating"].isna().equals(products["reviews"] == 0)
    assert products["category"].nunique() > 5
    assert pd.to_datetime(products["released"]).dt.year.between(2021, 2025).all()
    assert not products.drop(columns="rating").isna().any(axis=None)


def test_its_plan_takes_the_sku_and_rejects_nothing() -> None:
    plan = svc.plan(svc.samples.products(), "products")

    assert (plan.ids, plan.rejected_rows) == ("column `sku`", 0)
