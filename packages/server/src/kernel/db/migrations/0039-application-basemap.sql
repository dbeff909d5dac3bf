-- The address of the streets that an application has below its maps, instead of those of the installation.
ALTER TABLE svc.applications ADD COLUMN basemap text;
