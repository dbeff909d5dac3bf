/** The first rows of a file on a small map. */
import { DataSource } from '@graticule/map/react'
import { type ReactElement, useMemo } from 'react'
import { MapView } from '../../map/map-view.tsx'
import { boundsOf } from '../../pages/dataset/table/map/feature-bounds.ts'

interface PreviewMapProps {
  rows: readonly Record<string, unknown>[]
}

export function PreviewMap({ rows }: PreviewMapProps): ReactElement {
  const features = useMemo(() => featuresOf(rows), [rows])
  const bounds = boundsOf(features as never) ?? undefined
  return (
    <MapView label="Map of the first rows" bounds={bounds} boundsOf={JSON.stringify(bounds)}>
      <DataSource id="preview" src={features as never} type="geojson" />
    </MapView>
  )
}

function featuresOf(rows: PreviewMapProps['rows']) {
  const features = rows.flatMap((row) => {
    const geometry = Object.values(row).find(isGeometry)
    return geometry ? [{ type: 'Feature', properties: {}, geometry }] : []
  })
  return { type: 'FeatureCollection', features }
}

const isGeometry = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'type' in value && ('coordinates' in value || 'geometries' in value)
