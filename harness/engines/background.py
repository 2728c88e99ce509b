"""An event loop in a thread of its own, so that blocking callers can wait for many requests at once.

A caller that is interrupted (Ctrl-C) takes its work with it. It starts with the first work and ends with `close`.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TypeVar

Result = TypeVar("Result")


class Background:
    """See the module."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def run(self, work: Coroutine[object, object, Result]) -> Result:
        """The result of the work, from any thread but the loop's own."""
        future: Future[Result] = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self, last: Coroutine[object, object, None] | None = None) -> None:
        """End the loop, after one last piece of work where there is a loop to do it."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            if last is not None:
                last.close()
            return
        if last is not None:
            asyncio.run_coroutine_threadsafe(last, loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
                self._thread.start()
            return self._loop
