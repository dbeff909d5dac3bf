-- How an overview was thinned: what its densest tiles would hold, by zoom, from which the rates follow. Without it an overview is one of
-- the former kind, which was thinned tile by tile, and is made anew.
ALTER TABLE svc.overviews ADD thinning jsonb;
