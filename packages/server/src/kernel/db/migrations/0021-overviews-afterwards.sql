-- Overviews follow the publication of an upload: 'pending' until their job begins, and how far it is.
ALTER TABLE svc.overviews DROP CONSTRAINT overviews_state_check;
ALTER TABLE svc.overviews ADD CONSTRAINT overviews_state_check CHECK (state IN ('pending', 'building', 'built', 'failed'));
ALTER TABLE svc.overviews ADD progress float8 NOT NULL DEFAULT 0;
UPDATE svc.overviews SET progress = 1 WHERE state = 'built';
