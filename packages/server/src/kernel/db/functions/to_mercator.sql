-- Any geometry in web mercator, flat. One that has no place there, or that cannot be read, is null: it fails no other.
CREATE OR REPLACE FUNCTION svc.to_mercator(shape geometry) RETURNS geometry LANGUAGE plpgsql IMMUTABLE STRICT AS $$
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
        ELSE svc.cut(flat, 'y', -most, most) END;
    END IF;
    IF GeometryType(flat) <> 'POINT' AND (ST_XMin(flat) < -180 OR ST_XMax(flat) > 180) THEN
      flat := (SELECT ST_Collect(ST_Translate(svc.cut(flat, 'x', 360 * turn - 180, 360 * turn + 180), -360 * turn, 0))
        FROM generate_series(floor((ST_XMin(flat) + 180) / 360)::int4, ceil((ST_XMax(flat) - 180) / 360)::int4) AS turn);
      flat := ST_CollectionHomogenize(flat);
    END IF;
  END IF;
  flat := ST_Transform(flat, 3857);
  RETURN CASE WHEN ST_XMin(flat) > -1e9 AND ST_XMax(flat) < 1e9 AND ST_YMin(flat) > -1e9 AND ST_YMax(flat) < 1e9 THEN flat END;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;
