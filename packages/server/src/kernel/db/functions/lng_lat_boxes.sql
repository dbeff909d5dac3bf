-- Boxes as [west, south, east, north]; null where one cannot be placed on the earth.
CREATE OR REPLACE FUNCTION svc.lng_lat_boxes(boxes jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  box jsonb;
  placed jsonb := '[]';
  shape geometry;
BEGIN
  IF boxes IS NULL THEN RETURN NULL; END IF;
  FOR box IN SELECT * FROM jsonb_array_elements(boxes) LOOP
    shape := ST_MakeEnvelope((box->>1)::float8, (box->>2)::float8, (box->>3)::float8, (box->>4)::float8, (box->>0)::int);
    IF ST_SRID(shape) <> 4326 THEN
      -- The sides of a box are curves elsewhere.
      shape := ST_Transform(ST_Segmentize(shape, greatest(ST_Perimeter(shape) / 64, 1e-9)), 4326);
      shape := ST_Expand(shape, (ST_XMax(shape) - ST_XMin(shape)) / 100, (ST_YMax(shape) - ST_YMin(shape)) / 100);
    END IF;
    placed := placed || jsonb_build_array(jsonb_build_array(ST_XMin(shape), ST_YMin(shape), ST_XMax(shape), ST_YMax(shape)));
  END LOOP;
  RETURN placed;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;
