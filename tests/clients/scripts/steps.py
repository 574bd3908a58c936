"""Steps of a script that calls a client: each is done or failed, and one line of JSON tells."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FACTS: dict[str, str] = json.loads(sys.argv[1])
done: list[str] = []
failed: dict[str, str] = {}


@contextmanager
def step(name: str) -> Iterator[None]:
    """Run one step; its failure does not end the script."""
    try:
        yield
    except Exception as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).parent == Path(__file__).parent and frame.lineno
        ]
        failed[name] = f"line {lines[-1]}: {type(error).__name__}: {error}"
    else:
        done.append(name)


def report() -> None:
    """Print which steps were done and which failed."""
    sys.stdout.write(json.dumps({"done": done, "failed": failed}) + "\n")


def ids(answer: Any) -> list[str]:
    """The objectIDs of an answer's hits."""
    return [hit["objectID"] for hit in answer["hits"]]


def refused(call: Any) -> str:
    """The message with which a call is refused."""
    try:
        answer = call()
    except Exception as error:
        return str(error)
    raise AssertionError(f"not refused: {answer}")
