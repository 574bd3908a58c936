"""Convert email messages to pages."""

from __future__ import annotations

import email.policy
from email.message import EmailMessage
from html import escape

from svc_notebook.service.crawl.extraction.markup import paragraph, write_page
from svc_notebook.service.crawl.extraction.page import Unreadable


def read_mail(body: bytes) -> str:
    """Convert a message to HTML with its subject as title; raises `Unreadable`."""
    message = email.message_from_bytes(body, policy=email.policy.default)
    if not message.keys():
        raise Unreadable("it is no message: it has no header", reason="broken_file")
    said = {name: header(message, name) for name in ("from", "to", "date")}
    html, text = part(message, "html"), part(message, "plain")
    blocks = [html] if html else map(paragraph, text.split("\n\n"))
    subject = header(message, "subject")
    return write_page([f"<h1>{escape(subject)}</h1>", *blocks], title=subject, said=said)


def header(message: EmailMessage, name: str) -> str:
    """Return a header as text, empty if it is malformed."""
    try:
        return str(message.get(name, ""))
    except (ValueError, IndexError, AttributeError):  # raised by its parser
        return ""


def part(message: EmailMessage, kind: str) -> str:
    """Return the body of a subtype, empty if there is none."""
    found = message.get_body((kind,))
    try:
        return str(found.get_content()) if found else ""
    except (LookupError, ValueError):  # an unknown encoding
        payload = found.get_payload(decode=True) if found else b""
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
