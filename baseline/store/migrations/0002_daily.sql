-- What probing used, by canary and day of its scene's zone; written with the samples and kept longer than they are.
CREATE TABLE daily(
  day     INTEGER NOT NULL,  -- since 1970-01-01
  canary  INTEGER NOT NULL REFERENCES canary(id),
  probes  INTEGER NOT NULL,  -- that were sent
  skipped INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,    -- of those whose cost is known
  unpriced INTEGER NOT NULL, -- probes that may have cost something, nobody knows what
  PRIMARY KEY (day, canary)
) STRICT, WITHOUT ROWID;

-- The zones of old samples' scenes are not in the file: their days are those of UTC.
WITH kind AS (
  SELECT id, json_extract(body, '$.outcome') AS outcome, coalesce(json_extract(body, '$.http_status'), 0) AS status FROM trait
)
INSERT INTO daily
SELECT time / 86400000000000, canary, sum(outcome <> 'skipped'), sum(outcome = 'skipped'),
  sum(coalesce(input_tokens, 0)), sum(coalesce(cached_input_tokens, 0)), sum(coalesce(cache_write_tokens, 0)),
  sum(coalesce(output_tokens, 0)), sum(coalesce(reasoning_tokens, 0)), sum(coalesce(cost_usd, 0.0)),
  sum(cost_usd IS NULL AND outcome <> 'skipped' AND (outcome IN ('ok', 'ok_length') OR status BETWEEN 200 AND 299 OR status = 0 AND sent IS NOT NULL))
FROM sample JOIN kind ON kind.id = sample.trait
GROUP BY 1, 2;
