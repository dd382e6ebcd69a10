from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from .api import Api, AsyncApi
from .client import MarketDataClient

CALLS_MAX = 32
"""Calls of one client at a time; others wait for their turn."""
EVENTS_MAX = 1000
"""Events that a stream holds for a slow reader; then it is read no faster."""

T = TypeVar("T")


class AsyncMarketDataClient(AsyncApi):
    """MarketDataClient for asyncio: the same methods, options and promises, each call in a thread beside the loop.

    A call whose await is cancelled is finished all the same, since what it pays for may be done; a stream that nobody
    listens to any longer ends with its next sign of life, 15 s later at most. on_paid is told in the call's thread.
    """

    def __init__(self, base_url: str, *, calls_max: int = CALLS_MAX, **options: Any) -> None:
        """options: those of MarketDataClient."""
        self._client = MarketDataClient(base_url, **options)
        self._threads = ThreadPoolExecutor(calls_max, thread_name_prefix="market-data")

    async def __aenter__(self) -> AsyncMarketDataClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Takes no further call."""
        self._threads.shutdown(wait=False)

    async def run(self, work: Callable[[Api], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, self._client)

    async def hear(self, work: Callable[[Api], Iterator[T]]) -> AsyncIterator[T]:
        heard: _Heard[T] = _Heard(asyncio.get_running_loop())
        client = self._client.until(heard.is_left.is_set)
        threading.Thread(target=heard.listen, args=(lambda: work(client),), daemon=True).start()
        try:
            while (said := await heard.events.get()) is not None:
                if isinstance(said, Exception):
                    raise said
                yield said
        finally:
            heard.leave()


class _Heard(Generic[T]):
    """What one thread hears, for the loop: events, then None, or the error that ended it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.events: asyncio.Queue[T | Exception | None] = asyncio.Queue(EVENTS_MAX)
        self.is_left = threading.Event()
        self._loop = loop

    def listen(self, begin: Callable[[], Iterator[T]]) -> None:
        try:
            for event in begin():
                self._tell(event)
            self._tell(None)
        except Exception as error:
            self._tell(error)

    def leave(self) -> None:
        self.is_left.set()
        while not self.events.empty():
            self.events.get_nowait()  # so that the thread waits for no place

    def _tell(self, said: T | Exception | None) -> None:
        if not self.is_left.is_set() and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self.events.put(said), self._loop).result()
