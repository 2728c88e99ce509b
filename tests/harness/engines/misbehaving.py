"""A real HTTP server on loopback that answers by a script: well, badly, slowly, or not at all."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Body
    number: int
    """From 0, over all requests."""


@dataclass
class Answer:
    """What is sent back. `drip_s` is the pause between bytes; `cut` closes the connection after so many bytes."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    drip_s: float = 0.0
    cut: int | None = None


Script = Callable[[Asked], Answer]


def said(text: str = "hi", finish: str = "stop", **changes: Any) -> Answer:
    """A good answer."""
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": finish, **changes.pop("choice", {})}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Answer(body=json.dumps({"model": "m-1", "choices": [choice], "usage": usage, **changes}).encode())


def error(status: int, message: str = "no", **headers: str) -> Answer:
    """A refusal in the usual form."""
    return Answer(status, json.dumps({"error": {"message": message, "type": "x"}}).encode(), headers)


class Server(ThreadingHTTPServer):
    """See the module. `script` may be replaced while it runs."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script: Script, models: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script, self.models = script, models
        self.asked: list[Asked] = []
        self.lock = threading.Lock()
        self.together = self.most_together = 0
        self.stopping = threading.Event()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._send(self.server.models)

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            asked = Asked(self.path, dict(self.headers), body, len(server.asked))
            server.asked.append(asked)
            server.together += 1
            server.most_together = max(server.most_together, server.together)
        try:
            answer = server.script(asked)
            server.stopping.wait(answer.after_s)
        finally:
            with server.lock:
                server.together -= 1
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        sent = answer.body if answer.cut is None else answer.body[: answer.cut]
        if not answer.drip_s:
            self.wfile.write(sent)
        for at in range(len(sent) if answer.drip_s else 0):
            self.wfile.write(sent[at : at + 1])
            if self.server.stopping.wait(answer.drip_s):
                break
        if answer.cut is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True


def listed(*names: str, owner: str = "somebody") -> Answer:
    """The answer to GET /models."""
    rows = [{"id": name, "object": "model", "owned_by": owner, "max_model_len": 99} for name in names]
    return Answer(body=json.dumps({"object": "list", "data": rows}).encode())


@contextmanager
def serving(script: Script, models: Answer | None = None) -> Iterator[Server]:
    """A running server; hanging answers end with it."""
    server = Server(script, models or listed("m"))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def hang(asked: Asked) -> Answer:
    """Never, within a test's patience."""
    return Answer(after_s=60.0)


def elapsed(work: Callable[[], object]) -> float:
    """Seconds that the work takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started
