"""Parts of requests: names, texts, numbers, bodies, headers and input that is not HTTP."""

from __future__ import annotations

import gzip

NAMES = [
    "a", "films", "a/b", "😀", "%", "..", ".", "*", "x" * 255, "x" * 300, "settings", "batch",
    "task", "keys", "a b", "A&b=c?d#e", "'; DROP TABLE tasks; --", "nul\x00", "\x7f", "\ud800", "",
    "0", "1", "-1", "9" * 30, "<img>", "rules", "stopwords", "plurals",
]  # fmt: skip
# Path parts that decode to nothing, or are no UTF-8.
BROKEN_PARTS = [
    "%", "%zz", "%ff%fe", "%00", "%2", "a%c3", "%2e%2e%2f", "%u0041", "..;", "a%0d%0aX:y",
]  # fmt: skip
PLAIN = [
    "a", "b", "1", "n", "word", "fox", "en", "local-1", "a b", "n > 1", "a:b", "searchable(a)",
    "127.0.0.1/32", "0.0.0.0/0", "https://a.example/b",
]  # fmt: skip
TEXTS = [
    "", " ", "a", "word", "*", "-", '"', '"open', "a:b", "n > 1", "n:1 TO x", "a:b OR", "(", "NOT",
    "((a:b))", "a:b AND (c:d OR e:f)", "_tags", "asc(n)", "desc(", "searchable(a)", "virtual(a)",
    "{facet:a}", "0,0", "1,2,3", "nan,inf", "😀" * 40, "x" * 600, "x" * 3000, "\x00", "\u202e", "é",
    "\ud800", "en", "fr", "all", "true", "null", "<em>", "a.b.c", "." * 50, "-1", "1e999", "fox",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2, 1000, 1001, 2**31, -(2**31), 2**53, 2**62, 2**63 - 1, 2**63,
    -(2**63) - 1, 2**64, 10**30,
    0.1, -0.0, 1e308, -1e-320, 3.0,
]  # fmt: skip
# JSON that is none, or that few parsers like.
SCRAPS = [
    b"", b" ", b"null", b"true", b"0", b'"text"', b"[]", b"{}", b"[[[]]]", b"{", b"[1,", b'{"a"',
    b"}", b'{"a":NaN}', b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":1e999}', b'{"a":01}',
    b"{'a':1}",
    b'{"a":"\\ud800"}', b'{"\\udfff":1}', b'{"a":"\\x"}', b'{"a":"\x01"}', b'{"a":"\xff"}',
    b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00", b'{"a":1}{"a":2}', b'{"a":1,}', b"/**/{}", b"\x00",
    b'{"objectID":"1","objectID":"2"}', b'{"requests":[],"requests":3}', b'{"query":"a","query":1}',
    b"[" * 3000, b"[" * 90 + b"]" * 90, b'{"a":' * 3000, b'{"a":' * 101 + b"1" + b"}" * 101,
    b'{"a":' + b"9" * 400 + b"}", b'{"a":-' + b"9" * 5000 + b"}", b'{"a":0.' + b"1" * 3000 + b"}",
    b'{"objectID":' + b"1" * 400 + b"}", b'{"params":"query=%ff&%zz==&&;"}', b'{"params":{"a":1}}',
]  # fmt: skip
HEADERS = [
    b"content-type: text/plain", b"content-type: application/x-www-form-urlencoded",
    b"content-type:", b"content-type: multipart/form-data; boundary=x", b"accept: image/png",
    b"accept-encoding: gzip", b"accept-encoding: br;q=1, *;q=0", b"content-encoding: br",
    b"content-encoding: gzip, gzip", b"content-encoding: identity", b"content-encoding: gzip",
    b"expect: 100-continue", b"expect: the unexpected",
    b"upgrade: websocket\r\nconnection: upgrade", b"connection: close",
    b"connection: keep-alive, x", b"te: trailers", b"range: bytes=0-1",
    b"if-none-match: *", b"x-forwarded-for: 1.1.1.1, x", b"x-forwarded-for: \xff\xfe",
    b"x-forwarded-api-key: nokey", b"x-service-user-id: %ff", b"x-service-user-id: ann",
    b"referer: \xc3\x28", b"origin: null", b"cookie: a=b; a=c", b"authorization: Basic %%%",
    b"authorization: Bearer x", b"x-big: " + b"y" * 8000, b"x-\xc3\xa9: z", b"transfer: none",
    b"access-control-request-headers: a\tb, \xff", b"access-control-request-method: BREW",
    b"x-http-method-override: DELETE", b"host: elsewhere", b"accept-charset: utf-7",
    b"x-service-api-key: other", b"x-service-application-id: OTHER",
]  # fmt: skip
BOMB = gzip.compress(bytes(11 * 2**20), compresslevel=9)
# What is no HTTP, or breaks off: each goes on a connection of its own.
GARBAGE = [
    b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x00\xa5",
    b"GET /1/indexes HTTP/1.1\r\nhost\r\n\r\n", b"GET /1/\xe9 HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\na: b\r\n c: d\r\n\r\n", b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    b"GET / HTTP/1.1\r\na: \x00\r\n\r\n", b"GET / HTTP/1.1\na: b\n\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET http://a/1/indexes HTTP/1.1\r\nhost: a\r\n\r\n", b"GET //a:b@[::/ HTTP/1.1\r\n\r\n",
    b"BREW /1/indexes HTTP/1.1\r\nhost: a\r\n\r\n", b"get /1/indexes HTTP/1.1\r\nhost: a\r\n\r\n",
    b"POST /1/indexes/a HTTP/1.1\r\ncontent-length: -1\r\n\r\n", b"GET ? HTTP/1.1\r\n\r\n",
    b"POST /1/indexes/a HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
    b"POST /1/indexes/a HTTP/1.1\r\ncontent-length: 99\r\n\r\n{}",
    b"POST /1/indexes/a HTTP/1.1\r\nho",
    b"POST /1/indexes/a HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
    b"POST /1/indexes/a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    b"POST /1/indexes/a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
    b"2;" + b"x" * 9000 + b"\r\n{}\r\n0\r\n\r\n",
    b"POST /1/indexes/a HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"POST /1/indexes/a HTTP/1.1\r\ncontent-length: 9999999999999999999999\r\n\r\n{}",
    b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\na: " + b"x" * 70_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 12_000 + b"\r\n", b"GET /1/indexes HTTP/1.0\r\n\r\n",
]  # fmt: skip
