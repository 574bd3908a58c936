"""How an editor looks: its pictures for the documentation, and whether its text can be read."""

from __future__ import annotations

from tests.conftest import ROOT

PICTURES = ROOT / "docs" / "pictures"
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
