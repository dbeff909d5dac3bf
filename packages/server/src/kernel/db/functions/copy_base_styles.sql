-- Gives an application its copies of the base styles.
CREATE OR REPLACE FUNCTION svc.copy_base_styles(application_id uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO svc.styles (id, application_id, name, description, type, style, metadata)
  SELECT gen_random_uuid(), copy_base_styles.application_id, name, description, 'plain', style, jsonb_build_object('base', key)
  FROM svc.base_styles
$$;
