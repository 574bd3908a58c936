"""How records are asked for whole, whatever the settings of their index show of them."""

from __future__ import annotations

from svc_notebook.api.parameters import SearchParams

WHOLE: SearchParams = {"attributesToHighlight": [], "attributesToRetrieve": ["*"]}
