-- The round trip of the handshake and the load time of the model differ from sample to sample: in the trait they would make each
-- sample's its own.
ALTER TABLE sample ADD COLUMN rtt INTEGER;
ALTER TABLE sample ADD COLUMN load INTEGER;
