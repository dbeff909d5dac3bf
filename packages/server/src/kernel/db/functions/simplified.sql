-- With no more detail than can be seen; its box when nothing else is left of it. An area that is too small to be drawn
-- is as large as can be: it stands for those beside it.
CREATE OR REPLACE FUNCTION svc.simplified(shape geometry, tolerance float8) RETURNS geometry LANGUAGE plpgsql IMMUTABLE STRICT AS $$
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
