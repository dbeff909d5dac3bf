-- Overviews of folders of files are files themselves: how many bytes they take, and what is in them.
ALTER TABLE svc.overviews ADD bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE svc.overviews ADD files jsonb;
