-- An incident names its alerts and what people were told of each; an alert knows of no incident. Those that are open are rewritten,
-- and so are the closed ones, so that the newest can be reopened.
UPDATE incident SET body = json_set(body,
  '$.group', CASE WHEN coalesce(json_extract(body, '$.provider'), '') <> '' THEN 'provider/' || json_extract(body, '$.provider') ELSE 'target/' || scope END,
  '$.members', json((SELECT json_group_array(json_patch(
      json_object('alert', a.id, 'target', substr(a.series, 1, instr(a.series || '/', '/') - 1),
        'announced', json(CASE WHEN json_extract(a.body, '$.announced') OR incident.state <> 'waiting' THEN 'true' ELSE 'false' END)),
      CASE WHEN a.resolved IS NULL THEN '{}' ELSE json_object('ended', json_extract(a.body, '$.resolved'), 'end_sent', json('true')) END))
    FROM alert a WHERE a.incident = incident.id)));
UPDATE incident SET body = json_remove(body, '$.alerts', '$.provider', '$.targets', '$.merged', '$.owed', '$.spoken');
CREATE INDEX IF NOT EXISTS transition_alert ON transition(alert) WHERE alert <> '';
