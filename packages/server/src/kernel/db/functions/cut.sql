-- What of a shape lies between two values of x or y. Rings are clipped one by one (Sutherland and Hodgman), which is right for any
-- of them: only M can be chosen from, so it changes places with the axis.
CREATE OR REPLACE FUNCTION svc.cut(shape geometry, axis text, low float8, high float8) RETURNS geometry LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  box box2d;
BEGIN
  IF GeometryType(shape) IN ('POLYGON', 'MULTIPOLYGON') THEN
    RETURN ST_Force2D(ST_SwapOrdinates(
      ST_LocateBetween(ST_SwapOrdinates(ST_Force3DM(shape), (axis || 'm')::cstring), low, high), (axis || 'm')::cstring));
  END IF;
  box := CASE axis WHEN 'x' THEN ST_MakeEnvelope(low, -1e5, high, 1e5) ELSE ST_MakeEnvelope(-1e5, low, 1e5, high) END;
  RETURN ST_ClipByBox2D(shape, box);
END $$;
