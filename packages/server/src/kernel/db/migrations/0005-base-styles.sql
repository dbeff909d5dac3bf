-- The styles that every application begins with, kept up to date by the server when it starts.

CREATE TABLE svc.base_styles (
  key text PRIMARY KEY,
  name text NOT NULL,
  description text NOT NULL,
  style jsonb NOT NULL
);

CREATE FUNCTION svc.copy_base_styles(application_id uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO svc.styles (id, application_id, name, description, type, style, metadata)
  SELECT gen_random_uuid(), copy_base_styles.application_id, name, description, 'plain', style, jsonb_build_object('base', key)
  FROM svc.base_styles
$$;

CREATE FUNCTION svc.give_base_styles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM svc.copy_base_styles(NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER give_base_styles AFTER INSERT ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.give_base_styles();
