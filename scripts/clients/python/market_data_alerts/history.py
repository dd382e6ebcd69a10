"""Histories: the rows of a range over all its pages, as dictionaries or as a table of Polars, pandas or Arrow."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from .errors import CallError, PaymentRequiredError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from .payment import Payment

PAGE_ROWS = 1000
"""Rows of a page where a range is asked for without a limit: the most that the API gives."""
PAGES_MAX = 10_000
"""Pages of one history: more than any range should have."""

Page = TypeVar("Page")
Row = TypeVar("Row")
Made = TypeVar("Made")
Kind = Literal["time", "float", "int", "bool", "str"]


class History(dict[str, Any], Generic[Page, Row]):
    """The first page of a history, as the API answered it, and what is behind it.

    With a start (or `days`) `rows` and the tables go on over all pages of the range, each asked for and paid once, with
    the client's retries; without one they have the newest `limit` rows, which are that page. Where a page fails for
    good, those before it are kept: asked again it goes on there, with the payment that was signed for that page.
    """

    def __init__(
        self,
        send: Callable[[str, Mapping[str, Any]], Any],
        name: str,
        given: Mapping[str, Any],
        *,
        rows: str,
        row: type,
    ) -> None:
        """rows: the field that has them; row: their type, by which the columns of tables are typed."""
        self._send = send
        self._name = name
        self._given = {**given, "payment": None}
        self._payment: Payment | None = None
        self._rows = rows
        self._row = row
        super().__init__(send(name, given))
        self._pages: list[Mapping[str, Any]] = [self]

    @property
    def page(self) -> Page:
        """The first page, typed."""
        return cast(Page, self)

    def pages(self) -> Iterator[Page]:
        """The API's answers, the oldest rows first."""
        index = 0
        while True:
            page = self._pages[index]
            yield cast(Page, page)
            index += 1
            if index < len(self._pages):
                continue
            following = page["next"]
            if following is None or self._given.get("start") is None:
                return
            if index >= PAGES_MAX:
                raise ValueError(f"{self._name}: more than {PAGES_MAX} pages; ask for a shorter range or wider buckets")
            self._pages.append(self._page({**self._given, "start": following}))

    def _page(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        payment, self._payment = self._payment, None
        try:
            return cast(Mapping[str, Any], self._send(self._name, {**given, "payment": payment}))
        except CallError as error:
            self._payment = error.payment
            if payment is None or not isinstance(error, PaymentRequiredError):
                raise
        return self._page(given)  # it had expired unsettled

    def rows(self) -> Iterator[Row]:
        """All rows, oldest first."""
        for page in self.pages():
            rows = cast(Mapping[str, Any], page)[self._rows]
            yield from sorted(rows, key=lambda row: cast(str, row["time"]))

    def to_polars(self) -> polars.DataFrame:
        """A column for every figure (a venue's as `binance_delta`), `time` in UTC, null where nothing was said."""
        with _extra("polars"):
            import polars as pl

        types: dict[Kind, Any] = {
            "time": pl.Datetime("us", "UTC"),
            "float": pl.Float64,
            "int": pl.Int64,
            "bool": pl.Boolean,
            "str": pl.String,
        }
        return pl.DataFrame([pl.Series(name, values, types[kind]) for name, (kind, values) in self._columns().items()])

    def to_pandas(self) -> pandas.DataFrame:
        """As to_polars."""
        with _extra("pandas"):
            import pandas as pd

        types: dict[Kind, str] = {
            "time": "datetime64[us, UTC]",
            "float": "float64",
            "int": "Int64",
            "bool": "boolean",
            "str": "string",
        }
        columns = self._columns().items()
        return pd.DataFrame({name: pd.Series(values, dtype=types[kind]) for name, (kind, values) in columns})

    def to_arrow(self) -> pyarrow.Table:
        """As to_polars."""
        with _extra("arrow"):
            import pyarrow as pa

        types: dict[Kind, Any] = {
            "time": pa.timestamp("us", "UTC"),
            "float": pa.float64(),
            "int": pa.int64(),
            "bool": pa.bool_(),
            "str": pa.string(),
        }
        columns = self._columns().items()
        return pa.table({name: pa.array(values, types[kind]) for name, (kind, values) in columns})

    def _columns(self) -> dict[str, tuple[Kind, list[Any]]]:
        columns: dict[str, tuple[Kind, list[Any]]] = {name: (kind, []) for name, kind in _plain(self._row)}
        count = 0
        for row in self.rows():
            for name, kind, value in _cells(cast(Mapping[str, Any], row), self._row, ""):
                _, values = columns.setdefault(name, (kind, [None] * count))
                values.append(value)
            count += 1
            for _, values in columns.values():
                values.extend([None] * (count - len(values)))
        return columns


class AsyncHistory(Generic[Page, Row]):
    """A history that is asked for when it is awaited: `await` gives it with all its pages, `await ....to_polars()` its
    table. Where a page fails for good, those before it are kept: awaited again it goes on there."""

    def __init__(
        self,
        run: Callable[[Callable[[Any], Any]], Awaitable[Any]],
        first: Callable[[Any], History[Page, Row]],
    ) -> None:
        self._run = run
        self._first = first
        self._history: History[Page, Row] | None = None
        self._reading = threading.Lock()  # an await that is given up leaves its thread reading

    def __await__(self) -> Generator[Any, None, History[Page, Row]]:
        return self._after(lambda history: history).__await__()

    async def to_polars(self) -> polars.DataFrame:
        """As History.to_polars."""
        return await self._after(lambda history: history.to_polars())

    async def to_pandas(self) -> pandas.DataFrame:
        """As History.to_pandas."""
        return await self._after(lambda history: history.to_pandas())

    async def to_arrow(self) -> pyarrow.Table:
        """As History.to_arrow."""
        return await self._after(lambda history: history.to_arrow())

    async def _after(self, make: Callable[[History[Page, Row]], Made]) -> Made:
        def work(api: Any) -> Made:
            with self._reading:
                if self._history is None:
                    self._history = self._first(api)
                for _ in self._history.pages():
                    pass
                return make(self._history)

        return cast(Made, await self._run(work))


def ranged(given: Mapping[str, Any], days: float | None) -> dict[str, Any]:
    """The input of a history: `days` counts back from now; a range comes in the largest pages unless limit is given."""
    if days is None:
        start = given.get("start")
    elif given.get("start") is not None or given.get("end") is not None:
        raise ValueError("give days, or start and end, not both: days counts back from now")
    else:
        start = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    limit = given.get("limit")
    return {**given, "start": start, "limit": PAGE_ROWS if limit is None and start is not None else limit}


@contextmanager
def _extra(name: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ImportError(f"a library is missing: pip install 'market-data-alerts-client[{name}]'") from error


def _cells(value: Mapping[str, Any], of: Any, prefix: str) -> Iterator[tuple[str, Kind, Any]]:
    """The figures of an object; those of objects within it have its key before their names, those of venues their
    venue's. What the API has that this client does not know is left out."""
    hints = _hints(of)
    for key, inner in value.items():
        hint = hints.get(key)
        if hint is None:
            continue
        if not isinstance(inner, Mapping):
            kind = _kind(key, hint)
            if kind is not None:
                yield f"{prefix}{key}", kind, _cell(kind, inner)
        elif get_origin(hint) is dict:
            for each, one in inner.items():
                yield from _cells(one, get_args(hint)[1], f"{prefix}{each}_")
        else:
            yield from _cells(inner, hint, f"{prefix}{key}_")


def _plain(of: Any) -> Iterator[tuple[str, Kind]]:
    """The columns that there are without any row."""
    for key, hint in _hints(of).items():
        kind = _kind(key, hint)
        if kind is not None:
            yield key, kind


@cache
def _hints(of: Any) -> dict[str, Any]:
    return get_type_hints(of)


def _kind(key: str, hint: Any) -> Kind | None:
    """None: it is no figure but an object or a list."""
    said = [one for one in get_args(hint) if one is not type(None)] if type(None) in get_args(hint) else [hint]
    [one, *_] = said
    if key == "time":
        return "time"
    if get_origin(one) is Literal:
        return "str"
    kinds: dict[Any, Kind] = {float: "float", int: "int", bool: "bool", str: "str"}
    return kinds.get(one)


def _cell(kind: Kind, value: Any) -> Any:
    if value is None:
        return None
    if kind == "time":
        return datetime.fromisoformat(value)
    return float(value) if kind == "float" else value
