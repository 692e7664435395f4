"""The tables of the ledger."""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

# SQLite gives row ids only to INTEGER keys, PostgreSQL wants BIGINT for a key that never ends.
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

FACTS = sa.Table(
    "facts",
    METADATA,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

OUTCOMES = sa.Table(
    "outcomes",
    METADATA,
    sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

PARKED = sa.Table(
    "parked",
    METADATA,
    sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("route", sa.String(400), nullable=False),
    sa.Column("destination", sa.Text, nullable=False),
    sa.Column("partition", sa.Integer, nullable=False),
    sa.Column("offset", sa.BigInteger, nullable=False),
    sa.Column("leg", sa.SmallInteger, nullable=False),
    sa.Column("due", sa.Float, nullable=False),
    sa.Column("deadline", sa.Float, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("entry", sa.LargeBinary, nullable=True),
    # The generation that holds a lease; while it is set, `due` is when the lease ends.
    sa.Column("lease", sa.Integer, nullable=True),
    # A batch that runs twice parks the same delivery twice; the second one is ignored.
    sa.UniqueConstraint("route", "partition", "offset", "leg"),
    sa.Index("parked_due", "destination", "due"),
    sa.Index("parked_deadline", "destination", "deadline"),
    sa.Index("parked_offset", "partition", "offset"),
    sa.Index("parked_route", "route", "due"),
    # An id is never given twice: whoever held a lease too long must not finish another delivery.
    sqlite_autoincrement=True,
)

DEAD = sa.Table(
    "dead",
    METADATA,
    sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("route", sa.String(400), nullable=False, index=True),
    sa.Column("destination", sa.Text, nullable=False),
    sa.Column("partition", sa.Integer, nullable=False),
    sa.Column("offset", sa.BigInteger, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("entry", sa.LargeBinary, nullable=False),
    # The id of a letter that is sent again lives on as its place; see `waiting`.
    sqlite_autoincrement=True,
)

DESTINATIONS = sa.Table(
    "destinations",
    METADATA,
    sa.Column("destination", sa.Text, primary_key=True),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("hold_until", sa.Float, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("since", sa.Float, nullable=False),
)

TALLIES = sa.Table(
    "tallies",
    METADATA,
    sa.Column("route", sa.String(400), primary_key=True),
    sa.Column("matched", sa.BigInteger, nullable=False),
    sa.Column("delivered", sa.BigInteger, nullable=False),
    sa.Column("parked", sa.BigInteger, nullable=False),
    sa.Column("dead", sa.BigInteger, nullable=False),
    sa.Column("retried", sa.BigInteger, nullable=False),
    sa.Column("last_success", sa.Float, nullable=True),
    sa.Column("last_error", sa.Text, nullable=True),
    sa.Column("last_error_at", sa.Float, nullable=True),
    sa.Column("last_status", sa.Integer, nullable=True),
    # A sliding window for rates: sums of the minute of the last settlement, and of the one before.
    sa.Column("minute", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("minute_matched", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("minute_delivered", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("before_matched", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("before_delivered", sa.BigInteger, nullable=False, server_default="0"),
)

# Where the first run of events begins that each version of the routing table decides.
STEPS = sa.Table(
    "steps",
    METADATA,
    sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("start", sa.Text, nullable=False),
)

CATCHUPS = sa.Table(
    "catchups",
    METADATA,
    sa.Column("route", sa.String(400), primary_key=True),
    sa.Column("since", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("position", sa.Text, nullable=False),
    sa.Column("judged", sa.BigInteger, nullable=False),
    sa.Column("skipped", sa.BigInteger, nullable=False),
)
