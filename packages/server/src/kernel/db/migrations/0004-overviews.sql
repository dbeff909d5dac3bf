-- Overviews: what the low zooms of a large table show, in tables beside it.

CREATE TABLE svc.overviews (
  dataset_id uuid PRIMARY KEY REFERENCES svc.datasets ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('building', 'built', 'failed')),
  -- Of the data when the tables were made, and of the columns that they have; null before the first time.
  version text,
  shape text,
  zooms integer[] NOT NULL DEFAULT '{}',
  -- The tiles that are made of them: (4^z - 1) / 3 + y * 2^z + x
  tiles bigint[] NOT NULL DEFAULT '{}',
  row_counts bigint[] NOT NULL DEFAULT '{}',
  built_at timestamptz,
  tried_version text NOT NULL,
  tried_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  error text
);

-- Also those that were being made when a server ended.
CREATE FUNCTION svc.drop_overviews() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  found regclass;
BEGIN
  FOR found IN
    SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = svc.tenant_name(OLD.application_id) AND c.relkind = 'r'
      AND starts_with(c.relname, 'svc_ov_' || replace(OLD.id::text, '-', '') || '_')
  LOOP
    EXECUTE format('DROP TABLE %s', found);
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER drop_overviews AFTER DELETE ON svc.datasets FOR EACH ROW EXECUTE FUNCTION svc.drop_overviews();

-- Any geometry in web mercator, flat. One that has no place there, or that cannot be read, is null: it fails no other.
CREATE FUNCTION svc.to_mercator(shape geometry) RETURNS geometry LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  flat geometry;
  most constant float8 := 85.0511287798066;
BEGIN
  flat := ST_Force2D(shape);
  IF ST_HasArc(flat) THEN flat := ST_CurveToLine(flat); END IF;
  IF ST_SRID(flat) = 4326 THEN
    IF NOT (ST_XMin(flat) > -1e4 AND ST_XMax(flat) < 1e4) THEN RETURN NULL; END IF;
    IF ST_YMin(flat) < -most OR ST_YMax(flat) > most THEN
      flat := CASE WHEN GeometryType(flat) = 'POINT'
        THEN ST_SetSRID(ST_Point(ST_X(flat), greatest(-most, least(most, ST_Y(flat)))), 4326)
        ELSE ST_ClipByBox2D(flat, ST_MakeEnvelope(-1e4, -most, 1e4, most)::box2d) END;
    END IF;
    IF GeometryType(flat) <> 'POINT' AND (ST_XMin(flat) < -180 OR ST_XMax(flat) > 180) THEN
      flat := ST_WrapX(ST_WrapX(flat, 180, -360), -180, 360);
    END IF;
  END IF;
  flat := ST_Transform(flat, 3857);
  RETURN CASE WHEN ST_XMin(flat) > -1e9 AND ST_XMax(flat) < 1e9 AND ST_YMin(flat) > -1e9 AND ST_YMax(flat) < 1e9 THEN flat END;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

-- With no more detail than can be seen; its box when nothing else is left of it. An area that is too small to be drawn
-- is as large as can be: it stands for those beside it.
CREATE FUNCTION svc.simplified(shape geometry, tolerance float8) RETURNS geometry LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  simple geometry;
BEGIN
  IF greatest(ST_XMax(shape) - ST_XMin(shape), ST_YMax(shape) - ST_YMin(shape)) < 2 * tolerance AND ST_Dimension(shape) = 2 THEN
    RETURN ST_Expand(ST_Centroid(ST_Envelope(shape)), tolerance);
  END IF;
  simple := ST_Simplify(shape, tolerance, true);
  RETURN CASE WHEN simple IS NULL OR ST_IsEmpty(simple) THEN ST_Envelope(shape) ELSE simple END;
EXCEPTION WHEN OTHERS THEN
  RETURN ST_Envelope(shape);
END $$;
