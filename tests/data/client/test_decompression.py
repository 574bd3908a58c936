"""Compressed responses are decompressed exactly, within a limit."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.data.client.transport.exchange import (
    MAX_UNPACKING_RATIO,
    PIECE_BYTES,
    RATIO_FREE_BYTES,
    AnswerReader,
    TooLarge,
)
from svc_notebook.errors import AnswerTooLarge, Unreachable
from tests.data.client import stub
from tests.data.client.stub import serving


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "DEFLATE ": raw_deflate,
}


def read(encoding: str, packed: bytes, size: int, **limit: int) -> bytes:
    reader = AnswerReader(encoding, **limit)
    for at in range(0, len(packed), size):
        reader.feed(packed[at : at + size])
    return reader.finish()


@pytest.mark.parametrize("encoding", PACKERS)
@given(content=st.binary(max_size=3000), size=st.integers(1, 4000))
def test_content_comes_out_as_it_was_packed(encoding: str, content: bytes, size: int) -> None:
    assert read(encoding, PACKERS[encoding](content), size) == content


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("length", [PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES + 258])
def test_content_larger_than_a_piece_is_whole(encoding: str, length: int) -> None:
    content = b"abc" * (length // 3) + b"x" * (length % 3)

    assert read(encoding, PACKERS[encoding](content), 65_536) == content


def test_a_file_of_several_parts_and_padding_is_read_to_its_end() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 9

    assert read("gzip", packed, 10_000) == b"one two"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@given(cut=st.integers(1, 60))
def test_packed_content_cut_short_is_refused(encoding: str, cut: int) -> None:
    packed = PACKERS[encoding](bytes(range(256)))[:-cut]

    with pytest.raises(httpx.DecodingError, match="is not complete"):
        read(encoding, packed, 100)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_requested_is_refused(encoding: str) -> None:
    with pytest.raises(httpx.DecodingError, match="are accepted"):
        AnswerReader(encoding)


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize(("length", "fits"), [(1000, True), (1001, False)])
def test_the_limit_in_bytes_is_exact(encoding: str, length: int, fits: bool) -> None:
    packed = PACKERS[encoding](b"x" * length)

    if fits:
        assert len(read(encoding, packed, 64, max_bytes=1000)) == length
    else:
        with pytest.raises(TooLarge, match="1,000"):
            read(encoding, packed, 64, max_bytes=1000)


def test_a_large_answer_may_not_unpack_to_many_times_its_size() -> None:
    packed = gzip.compress(b"\0" * (RATIO_FREE_BYTES + 2 * PIECE_BYTES))

    with pytest.raises(TooLarge, match=f"more than {MAX_UNPACKING_RATIO} times"):
        read("gzip", packed, 65_536)


@pytest.mark.slow
def test_repetitive_records_are_no_bomb() -> None:
    record = {"name": "oak lamp", "text": "a lamp of oak for the desk, with a shade of linen. " * 8}
    page = json.dumps([{"objectID": str(number), **record} for number in range(100_000)]).encode()

    assert len(page) > RATIO_FREE_BYTES
    assert read("gzip", gzip.compress(page), 65_536) == page


PACKED = {"content-encoding": "gzip"}
FAR, NEAR = "0.0.0.0", "127.0.0.1"  # both lead to this machine, the first as any other one does
CALL = """
import resource, sys
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import AnswerTooLarge

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

client = Client(ClientConfig("APP", Secret("k"), url=sys.argv[1], allow_http=True))
before = peak()
try:
    client.search("i")
except AnswerTooLarge as error:
    print(peak() - before, error)
"""


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("host", [FAR, NEAR])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_seven_megabytes_that_unpack_to_three_gigabytes_take_little_memory(
    host: str, encoding: str
) -> None:
    member = PACKERS[encoding](b" " * 31_000_000)
    # Parts are unpacked one after the other; a single stream of zlib is as long as it is.
    packed = member * 100 if encoding == "gzip" else zlib.compress(b" " * 700_000_000, 1)
    with serving(stub.raw(packed, headers={"content-encoding": encoding})) as server:
        told = subprocess.run(
            [sys.executable, "-c", CALL, server.url.replace(NEAR, host)],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip

    megabytes, message = told.stdout.split(" ", 1)
    assert int(megabytes) < 150
    assert "attributesToRetrieve" in message
    assert len(server.requests) == 1


@pytest.mark.parametrize("host", [FAR, NEAR])
@pytest.mark.parametrize(
    "packer", [lambda content: (content, {}), lambda content: (gzip.compress(content), PACKED)]
)
def test_a_client_may_allow_less_and_more(host: str, packer: Any) -> None:
    content, headers = packer(b'{"hits": [], "nbHits": 0}' + b" " * 1000)
    with serving(stub.raw(content, headers=headers)) as server:
        connection = ClientConfig(
            "APP", Secret("k"), url=server.url.replace(NEAR, host), allow_http=True
        )
        with Client(connection) as client:
            less = client.with_options(max_answer_bytes=1000)

            assert client.search("i") == {"hits": [], "nbHits": 0}
            with pytest.raises(AnswerTooLarge, match="max_answer_bytes"):
                less.search("i")
            with pytest.raises(AnswerTooLarge, match="may have been applied"):
                less.clear_objects("i")

    assert len(server.requests) == 3


@pytest.mark.parametrize("host", [FAR, NEAR])
def test_an_answer_with_another_encoding_is_a_failure_with_advice(host: str) -> None:
    with serving(stub.raw(b"{}", headers={"content-encoding": "br"})) as server:
        connection = ClientConfig(
            "APP", Secret("k"), url=server.url.replace(NEAR, host), allow_http=True
        )
        with Client(connection) as client, pytest.raises(Unreachable, match="are accepted"):
            client.search("i")
