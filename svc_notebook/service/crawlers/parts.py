"""The parts that crawlers stand on, and the clock they go by."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from svc_notebook.service.catalog import Catalog
from svc_notebook.service.crawlers.engines import Engines
from svc_notebook.service.keyring import Keyring
from svc_notebook.service.store import Store
from svc_notebook.service.tasks import Tasks

Clock = Callable[[], float]


@dataclass(frozen=True)
class Parts:
    """What a crawler reads and writes; `clock` tells Unix seconds."""

    store: Store
    tasks: Tasks
    catalog: Catalog
    keyring: Keyring
    allow_private: bool = False
    clock: Clock = time.time
    engines: Engines = field(default_factory=Engines)
