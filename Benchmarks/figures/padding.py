# SPDX-License-Identifier: Apache-2.0
"""Makes a large keychain of a small one in seconds.

What is added is to SQLite what the keychain's own rows are: rows of the same lengths in the same
tables, with as many index entries each. Their bytes are random, so that no search finds them and
nothing opens them. The real items are spread evenly among them: a read meets as many pages as in a
keychain whose items are all real."""

import sqlite3

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {size})"


def pad(path, size):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA cache_size = -400000")
    database.execute("PRAGMA synchronous = OFF")
    real = database.execute("SELECT count(*) FROM item").fetchone()[0]
    step = size // real
    entries = database.execute("SELECT count(*) FROM token").fetchone()[0] // real
    numbers = NUMBERS.format(size=size)
    database.execute("BEGIN IMMEDIATE")
    # By way of numbers that none of them has.
    database.execute(f"UPDATE item SET id = -id * {step}")
    database.execute("UPDATE item SET id = -id")
    database.execute(f"UPDATE token SET item = -item * {step}")
    database.execute("UPDATE token SET item = -item")
    columns = [row[1] for row in database.execute("PRAGMA table_info(item)")]
    first = database.execute("SELECT * FROM item ORDER BY id LIMIT 1").fetchone()
    values = ["i" if name == "id" else f"randomblob({len(value)})" if isinstance(value, bytes)
              else str(value) for name, value in zip(columns, first)]
    database.execute(f"{numbers} INSERT INTO item ({', '.join(columns)}) SELECT "
                     f"{', '.join(values)} FROM n WHERE i % {step}")
    database.execute(f"{numbers}, t(token, item) AS (SELECT random(), i FROM n, (WITH RECURSIVE "
                     f"k(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM k WHERE j < {entries}) "
                     f"SELECT j FROM k) WHERE i % {step}) "
                     "INSERT INTO token (token, item) SELECT token, item FROM t ORDER BY token")
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
