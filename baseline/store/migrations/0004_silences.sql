-- Silences, and events on the time line; times are unix nanoseconds.
CREATE TABLE silence(
  id     TEXT PRIMARY KEY,
  starts INTEGER NOT NULL,
  ends   INTEGER NOT NULL,
  body   TEXT NOT NULL
) STRICT;
CREATE INDEX silence_ends ON silence(ends);

CREATE TABLE mark(
  id   TEXT PRIMARY KEY,
  at   INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX mark_at ON mark(at);
