"""An interrupt during an awaited load that still reads its source."""

from __future__ import annotations

import pytest

from tests.data.client.stub import answer, serving
from tests.faces.magics.kernel import Kernel
from tests.kernels.test_interrupt import stop_in_the_middle

SOURCES = {
    "sql": "'SELECT i, hash(i)::VARCHAR AS text FROM range(2_000_000_000) AS t(i)'",
    "stream": "({'objectID': str(n), 'text': 'x' * 500} for n in itertools.count())",
}


# An import that is stopped in its middle spoils the kernel, so all is imported before.
SETUP = """
import itertools
import svc_notebook as svc
svc.connect(url={url!r}, app_id='APP', api_key='key')
for source in ([{{'objectID': '1'}}], 'SELECT 1 AS objectID'):
    svc.load(source, 'i', dry_run=True)
    await svc.aio.load(source, 'i', dry_run=True)
"""
FACES = {"plain": "svc.load({}, 'i', progress=False)", "await": "await svc.aio.load({}, 'i')"}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.sampled(3)
def test_stop_ends_a_load_that_is_reading(kernel: Kernel, source: str, face: str) -> None:
    with serving(answer({"items": [], "nbPages": 1})) as server:
        kernel.good(SETUP.format(url=server.url))
        load = FACES[face].format(SOURCES[source])
        status, error = stop_in_the_middle(kernel, load)

    assert status == "error"
    assert error.startswith(("Stopped: ", "KeyboardInterrupt"))
    assert kernel.good("7").result == "7"
