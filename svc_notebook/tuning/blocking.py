"""Every function of tuning that talks to the service, as one that returns when it is done."""

from __future__ import annotations

from svc_notebook.client.twins import blocking
from svc_notebook.tuning import aio

diff = blocking(aio.diff)
history = blocking(aio.history)
restore = blocking(aio.restore)
snapshot = blocking(aio.snapshot)
undo = blocking(aio.undo)
