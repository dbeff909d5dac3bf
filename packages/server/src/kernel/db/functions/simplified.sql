-- With no more detail than can be seen; its box when nothing else is left of it. An area or a line that is too small to be drawn
-- is as large as can be: it stands for those beside it.
CREATE OR REPLACE FUNCTION svc.simplified(shape geometry, tolerance float8) RETURNS geometry LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  simple geometry;
  middle geometry;
BEGIN
  IF greatest(ST_XMax(shape) - ST_XMin(shape), ST_YMax(shape) - ST_YMin(shape)) < 2 * tolerance AND ST_Dimension(shape) > 0 THEN
    middle := ST_Centroid(ST_Envelope(shape));
    RETURN CASE ST_Dimension(shape) WHEN 2 THEN ST_Expand(middle, tolerance)
      ELSE ST_MakeLine(ST_Translate(middle, -tolerance, 0), ST_Translate(middle, tolerance, 0)) END;
  END IF;
  simple := ST_Simplify(shape, tolerance, true);
  RETURN CASE WHEN simple IS NULL OR ST_IsEmpty(simple) THEN ST_Envelope(shape) ELSE simple END;
EXCEPTION WHEN OTHERS THEN
  RETURN ST_Envelope(shape);
END $$;
