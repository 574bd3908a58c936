"""Convert email messages to pages."""

from __future__ import annotations

import email.policy
from email.message import EmailMessage
from html import escape

from svc_notebook.service.crawl.extraction.markup import paragraph, write_page
from svc_notebook.service.crawl.extraction.page import Unreadable


def read_mail(body: bytes) -> str:
    """Write a message as a page, its subject the title; raises Unreadable."""
    message = email.message_from_bytes(body, policy=email.policy.default)
    if not message.keys():
        raise Unreadable("it is no message: it has no header", reason="broken_file")
    said = {name: header(message, name) for name in ("from", "to", "date")}
    html, text = part(message, "html"), part(message, "plain")
    blocks = [html] if html else map(paragraph, text.split("\n\n"))
    subject = header(message, "subject")
    return write_page([f"<h1>{escape(subject)}</h1>", *blocks], title=subject, said=said)


def header(message: EmailMessage, name: str) -> str:
    """Return a header as text, however badly it was written."""
    try:
        return str(message.get(name, ""))
    except (ValueError, IndexError, AttributeError):  # its parser gives up in these ways
        return ""


def part(message: EmailMessage, kind: str) -> str:
    """Return the body of a kind, or nothing."""
    found = message.get_body((kind,))
    try:
        return str(found.get_content()) if found else ""
    except (LookupError, ValueError):  # an encoding that is none
        payload = found.get_payload(decode=True) if found else b""
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
