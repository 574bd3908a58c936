"""Text that is safe to print: control characters are shown as escapes."""

from __future__ import annotations

# Control characters that only move the cursor forward.
KEPT = "\n\t"
# C0, DEL, C1, the marks and overrides of writing direction, and the line ends of Unicode.
_RANGES = (
    (0x00, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x200E, 0x200F), (0x2028, 0x202E),
    (0x2066, 0x2069), (0xFFF9, 0xFFFB),
)  # fmt: skip
_ESCAPES = {
    code: f"\\u{code:04x}"
    for first, last in _RANGES
    for code in range(first, last + 1)
    if chr(code) not in KEPT
}


def escape_controls(text: str) -> str:
    r"""Replace control characters by escapes such as `\u001b`; line breaks and tabs are kept.

    The escapes are those of JSON, so a JSON text keeps its meaning.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPES)
