-- A text as a value of the type of `sample`, or null where it is none. An assignment converts as the input function of the type does.
CREATE OR REPLACE FUNCTION svc.cast_or_null(value text, sample anyelement) RETURNS anyelement LANGUAGE plpgsql STABLE AS $$
DECLARE
  result sample%TYPE;
BEGIN
  result := value;
  RETURN result;
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $$;
