"""A headless Chromium for one page at a time, by W3C WebDriver over HTTP: for tests and the measurement of a report.

It needs the programs `chromium` and `chromedriver` (Debian: chromium, chromium-driver) and no package. It is started
without a network: nothing but files is opened. What it is not: a part of making a report.
"""

import base64
import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BROWSERS, DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--proxy-server=127.0.0.1:9",
)  # fmt: skip
"""The proxy is a port that nobody listens on: a page that asked for something would not get it."""
PATIENCE_S = 120.0
"""For each answer of the browser: a crowded machine starts it slowly."""


def lacking() -> str:
    """Why no browser can be started here; empty where one can."""
    for names in (BROWSERS, DRIVERS):
        if not any(map(shutil.which, names)):
            return f"no {names[0]} is installed (Debian: apt-get install chromium chromium-driver)"
    return ""


@dataclass(frozen=True)
class Browser:
    """One session; its methods raise RuntimeError with the browser's own words."""

    address: str

    def open(self, page: Path) -> None:
        """Open a file; returns when the document and its scripts are loaded."""
        self._ask("POST", "/url", {"url": page.resolve().as_uri()})

    def run(self, script: str, *arguments: object) -> Any:
        """What a function body in JavaScript returns; its arguments are `arguments[0]` and so on."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script: str, *arguments: object) -> Any:
        """What a function body hands to the function that is its last argument, sooner or later."""
        return self._ask("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def resize(self, width: int, height: int = 900) -> None:
        """The size of the page in CSS pixels, narrower than a window could be."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme: str) -> None:
        """"light" or "dark"."""
        self.command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def press(self, selector: str, key: str) -> None:
        """Focus an element and press a key there, by WebDriver's code of the key."""
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        (element,) = found.values()
        self._ask("POST", f"/element/{element}/value", {"text": key})

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page, or of the part of it that is in view."""
        part = {"captureBeyondViewport": True, "clip": self._page()} if whole else {}
        shot = self.command("Page.captureScreenshot", part)
        path.write_bytes(base64.b64decode(shot["data"]))

    def command(self, name: str, parameters: Mapping[str, object]) -> Any:
        """A command of the DevTools protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def _page(self) -> dict[str, float]:
        size = "const r = document.documentElement; return [r.scrollWidth, r.scrollHeight]"
        width, height = self.run(size)
        return {"x": 0, "y": 0, "width": width, "height": min(height, 16_000), "scale": 1}

    def _ask(self, method: str, path: str, body: Mapping[str, object]) -> Any:
        return ask(method, self.address + path, body)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own, which is gone when the block ends."""
    chromium, driver = (next(filter(None, map(shutil.which, names))) for names in (BROWSERS, DRIVERS))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, _driver(driver) as address:
        options = {"binary": chromium, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        limits = dict.fromkeys(("script", "pageLoad"), int(1000 * PATIENCE_S))
        wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options, "timeouts": limits}}
        session = ask("POST", f"{address}/session", {"capabilities": wanted})["sessionId"]
        try:
            yield Browser(f"{address}/session/{session}")
        finally:
            ask("DELETE", f"{address}/session/{session}", None)


@contextmanager
def _driver(program: str) -> Iterator[str]:
    """A driver on a port that it chooses; its address."""
    process = subprocess.Popen(
        [program, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, stdin=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        started = next((line for line in lines if "on port" in line and "successfully" in line), "")
        if not started:
            raise RuntimeError(f"{program} ended with code {process.wait()} before it listened")
        port = int(started.rpartition("on port")[2].strip(" .\n"))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        if process.stdout is not None:
            process.stdout.close()


def ask(method: str, address: str, body: Mapping[str, object] | None) -> Any:
    """One request of WebDriver. Raises RuntimeError with the driver's words."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE_S) as answer:
            return json.loads(answer.read())["value"]
    except urllib.error.HTTPError as error:
        with error:
            told = json.loads(error.read())["value"]
        raise RuntimeError(f"{told['error']}: {str(told['message']).splitlines()[0]}") from None
