/** The client's GeoJSON types, with properties that may be null as in RFC 7946: collections of any origin fit. */
import type { FeatureCollection as Collection } from '@graticule/client'

export type GeoJsonCollection = Collection<Record<string, unknown> | null>
