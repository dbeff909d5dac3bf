-- Boxes as [west, south, east, north] within ±180 degrees, two where one crosses the antimeridian; null where one cannot be placed on the earth.
CREATE OR REPLACE FUNCTION svc.lng_lat_boxes(boxes jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  box jsonb;
  placed jsonb := '[]';
  shape geometry;
  west float8;
  east float8;
BEGIN
  IF boxes IS NULL THEN RETURN NULL; END IF;
  FOR box IN SELECT * FROM jsonb_array_elements(boxes) LOOP
    shape := ST_MakeEnvelope((box->>1)::float8, (box->>2)::float8, (box->>3)::float8, (box->>4)::float8, (box->>0)::int);
    IF ST_SRID(shape) <> 4326 THEN
      -- The sides of a box are curves elsewhere.
      shape := ST_Transform(ST_Segmentize(shape, greatest(ST_Perimeter(shape) / 64, 1e-9)), 4326);
      shape := ST_Expand(shape, (ST_XMax(shape) - ST_XMin(shape)) / 100, (ST_YMax(shape) - ST_YMin(shape)) / 100);
    END IF;
    west := ST_XMin(shape);
    east := ST_XMax(shape);
    IF east - west >= 360 THEN
      west := -180;
      east := 180;
    ELSIF west < -180 OR east > 180 THEN
      east := east - 360 * floor((west + 180) / 360);
      west := west - 360 * floor((west + 180) / 360);
    END IF;
    placed := placed || jsonb_build_array(jsonb_build_array(west, ST_YMin(shape), least(east, 180), ST_YMax(shape)));
    IF east > 180 THEN
      placed := placed || jsonb_build_array(jsonb_build_array(-180, ST_YMin(shape), east - 360, ST_YMax(shape)));
    END IF;
  END LOOP;
  RETURN placed;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;
