-- The types of datasets and tile sources are the keys of records in the service, which checks them as it checks those of
-- databases. A second list here would ask for a migration with every new type.
ALTER TABLE svc.datasets DROP CONSTRAINT datasets_type_check;
ALTER TABLE svc.tilesources DROP CONSTRAINT tilesources_type_check;
