"""Pictures of an editor for the documentation, and checks of its accessibility."""

from __future__ import annotations

import os
from functools import cache

from playwright.sync_api import Locator, Page

from tests.conftest import ROOT
from tests.peers.javascript import install

PICTURES = ROOT / "docs" / "pictures"
AXE = "axe-core@4.14.1"
# JavaScript: the accessibility rules that an element violates, with the first places of each.
VIOLATIONS = """async selector => {
    const {violations} = await axe.run(selector, {resultTypes: ["violations"]});
    return violations.filter(({impact}) => impact !== "minor").map(({id, impact, help, nodes}) =>
        `${impact} ${id}: ${help} (${nodes.length})\\n` + nodes.slice(0, 3).map(
            ({html, any, all, none}) => `  ${html.slice(0, 200)}\\n    `
                + [...any, ...all, ...none].map(check => check.message).join("; ")).join("\\n"));
}"""
# JavaScript: the texts of editors that are too faint on what is behind them.
CONTRAST = """() => {
    const parse = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
    const behind = el => {
        for (let at = el; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const faint = [];
    for (const el of document.querySelectorAll(".svc-editor *")) {
        const own = [...el.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        if (!own || !el.offsetParent || el.closest(":disabled")) continue;
        const [a, b] = [light(parse(getComputedStyle(el).color)), light(behind(el))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) faint.push(`${el.className} ${el.textContent} ${ratio.toFixed(2)}`);
    }
    return faint;
}"""


def find_violations(page: Page, selector: str = ".svc-editor") -> list[str]:
    """The violations of accessibility rules above "minor" that axe-core finds in an element."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_read_axe())
    found: list[str] = page.evaluate(VIOLATIONS, selector)
    return found


def draw(shown: Locator | Page, name: str, size: tuple[int, int] | None = None) -> None:
    """Draw a picture for the documentation if `SVC_PICTURES` is set, in a window of `size`."""
    if not os.environ.get("SVC_PICTURES"):
        return
    page = shown if isinstance(shown, Page) else shown.page
    before = page.viewport_size
    if size:
        page.set_viewport_size({"width": size[0], "height": size[1]})
    shown.screenshot(path=PICTURES / name, animations="disabled")
    if size and before:
        page.set_viewport_size(before)


@cache
def _read_axe() -> str:
    folder = ROOT / ".pytest_cache" / "d"
    folder.mkdir(parents=True, exist_ok=True)
    packages = install(folder / "axe", (AXE,))
    return (packages / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
