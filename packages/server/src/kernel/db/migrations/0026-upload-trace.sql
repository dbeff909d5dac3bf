-- The trace context (W3C traceparent) of the request that sent the file, so that the trace of its loading can name it.
ALTER TABLE svc.uploads ADD COLUMN traceparent text;
