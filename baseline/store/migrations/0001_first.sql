CREATE TABLE meta(
  key   TEXT PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('import_revision', 0);

CREATE TABLE canary(
  id     INTEGER PRIMARY KEY,
  target TEXT NOT NULL,
  scene  TEXT NOT NULL,
  size   TEXT NOT NULL,
  UNIQUE (target, scene, size)
) STRICT;

-- What samples have in common (spec, outcome, model, …), as JSON, once; day is the last day (since 1970) of its use.
CREATE TABLE trait(
  id   INTEGER PRIMARY KEY,
  body TEXT NOT NULL UNIQUE,
  day  INTEGER NOT NULL
) STRICT;

-- Times are unix nanoseconds, durations nanoseconds, NULL is unknown. Rows lie by canary and time, as history reads them.
CREATE TABLE sample(
  canary  INTEGER NOT NULL REFERENCES canary(id),
  time    INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  trait   INTEGER NOT NULL,
  ttft INTEGER, ttfa INTEGER, ttfe INTEGER, ttft_warm INTEGER, tpot INTEGER, e2e INTEGER, stream_total INTEGER,
  trailer INTEGER, max_gap INTEGER, sched_lag INTEGER, dns INTEGER, connect INTEGER, tls INTEGER, sent INTEGER,
  ttfb INTEGER, lag INTEGER,
  input_tokens INTEGER, cached_input_tokens INTEGER, cache_write_tokens INTEGER, output_tokens INTEGER,
  reasoning_tokens INTEGER,
  cost_usd REAL,
  chunks INTEGER,
  reason TEXT, request_id TEXT, trace_id TEXT,
  excluded INTEGER,  -- bit mask of metrics
  residuals BLOB,
  PRIMARY KEY (canary, time, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE band(
  canary    TEXT NOT NULL,
  metric    TEXT NOT NULL,
  slot      INTEGER NOT NULL,
  spec      TEXT NOT NULL,
  threshold TEXT NOT NULL,
  body      TEXT NOT NULL,
  PRIMARY KEY (canary, metric, slot, spec, threshold)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert(
  id       TEXT PRIMARY KEY,
  series   TEXT NOT NULL,
  kind     TEXT NOT NULL,
  state    TEXT NOT NULL,
  incident TEXT NOT NULL,
  since    INTEGER NOT NULL,
  resolved INTEGER,
  touched  INTEGER NOT NULL,  -- the latest time in it
  body     TEXT NOT NULL
) STRICT;
CREATE INDEX alert_series ON alert(series, since);
CREATE INDEX alert_incident ON alert(incident) WHERE incident <> '';
CREATE INDEX alert_open ON alert(id) WHERE resolved IS NULL;

CREATE TABLE incident(
  id      TEXT PRIMARY KEY,
  scope   TEXT NOT NULL,
  state   TEXT NOT NULL,
  opened  INTEGER NOT NULL,
  closed  INTEGER,
  touched INTEGER NOT NULL,
  body    TEXT NOT NULL
) STRICT;
CREATE INDEX incident_opened ON incident(opened);

CREATE TABLE notice(
  incident TEXT NOT NULL,
  channel  TEXT NOT NULL,
  revision INTEGER NOT NULL,
  act      TEXT NOT NULL,
  state    TEXT NOT NULL,
  created  INTEGER NOT NULL,
  touched  INTEGER NOT NULL,
  body     TEXT NOT NULL,
  PRIMARY KEY (incident, channel, revision)
) STRICT;
CREATE INDEX notice_owed ON notice(created) WHERE state NOT IN ('sent', 'dropped');

CREATE TABLE transition(
  at       INTEGER NOT NULL,
  id       INTEGER NOT NULL,  -- hash of the body
  series   TEXT NOT NULL,
  alert    TEXT NOT NULL,
  incident TEXT NOT NULL,
  body     TEXT NOT NULL,
  PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX transition_series ON transition(series, at);

CREATE TABLE blob(
  key  TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
