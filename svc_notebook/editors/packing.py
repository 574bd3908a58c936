"""A browser module made small: every notebook keeps one for each editor that it shows.

What is kept is a module of a few lines that unpacks the other one and opens it from an address
made on the spot, as front ends open a widget's module themselves.
"""

from __future__ import annotations

import base64
import zlib

_OPENER = """\
const bytes = Uint8Array.from(atob("{packed}"), (sign) => sign.charCodeAt(0));
const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
const text = await new Response(plain).text();
const address = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
const module = await import(/* webpackIgnore: true */ /* @vite-ignore */ address);
URL.revokeObjectURL(address);
export default module.default;
"""


def pack_module(text: str) -> str:
    """Return a module whose default is that of the module `text`."""
    deflated = zlib.compress(text.encode(), 9, wbits=-zlib.MAX_WBITS)
    return _OPENER.format(packed=base64.b64encode(deflated).decode())
