-- What callers may see and write of the rows of a dataset; null where keys alone decide.
ALTER TABLE svc.datasets ADD COLUMN rules jsonb;
ALTER TABLE svc.datasets ADD COLUMN rules_for text NOT NULL DEFAULT 'users' CHECK (rules_for IN ('users', 'all'));
