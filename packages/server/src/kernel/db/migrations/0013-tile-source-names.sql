-- What TileJSON calls a tile source; where it is empty, what its data are called.
ALTER TABLE svc.tilesources ADD COLUMN name text NOT NULL DEFAULT '';
