"""Configurations of query suggestions are saved, read and deleted; their index is built."""

from __future__ import annotations

import time

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.frames.schemas import SUGGESTIONS
from svc_notebook.errors import BadInput, NotFound
from tests.conftest import Running
from tests.data.frames.schemas import with_text_dtype

SOURCE, INDEX = "suggested-lamps", "lamp-suggestions"


def test_suggestions_are_built_from_what_was_searched(service: Running) -> None:
    with svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey) as client:
        lamps = pd.DataFrame({"objectID": ["1", "2"], "title": ["desk lamp", "floor lamp"]})
        svc.push(lamps, SOURCE, client=client)
        svc.search(SOURCE, "desk lamp", client=client)

        assert svc.save_suggestions_config(INDEX, SOURCE, min_hits=1, client=client) == {
            "index": INDEX, "created": True,
        }  # fmt: skip
        source = {"indexName": SOURCE, "minHits": 1}
        again = svc.save_suggestions_config(INDEX, [source], exclude="floor", client=client)
        assert again == {"index": INDEX, "created": False}
        deadline = time.monotonic() + 20
        while not (frame := read(client))["message"].iloc[0].startswith("1 suggestion"):
            assert time.monotonic() < deadline
            time.sleep(0.1)

        dtypes = {str(name): str(dtype) for name, dtype in frame.dtypes.items()}
        assert dtypes == with_text_dtype(SUGGESTIONS)
        assert frame["exclude"].iloc[0] == ["floor"]
        assert frame["sources"].iloc[0][0]["minLetters"] == 4
        assert svc.search(INDEX, "des", client=client)["query"].tolist() == ["desk lamp"]
        with pytest.raises(BadInput, match="`sources` is empty"):
            svc.save_suggestions_config(INDEX, [], client=client)
        assert svc.delete_suggestions_config(INDEX, client=client)["deleted"]
        assert read(client).empty
        with pytest.raises(NotFound, match="do not exist"):
            svc.delete_suggestions_config(INDEX, client=client)


def read(client: svc.Client) -> pd.DataFrame:
    frame = svc.read_suggestions_configs(client=client)
    return frame[frame["index"] == INDEX]
