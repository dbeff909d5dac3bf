/** The map of the home page: each dataset in its own colour, with popups. */
import type { GraticuleMap, PopupContext } from '@graticule/map'
import { DataSource } from '@graticule/map/react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react'
import { consoleUrl } from '../../address.ts'
import { geometryLayers } from '../../map/geometry-layers.ts'
import { MapView } from '../../map/map-view.tsx'
import { useTheme } from '../../theme.ts'
import { featureFacts, popupElement } from './feature-popup.ts'
import classes from './home.module.css'
import type { DatasetExtent, MapDataset } from './map-dataset.ts'

export interface DataMapProps {
  shown: readonly MapDataset[]
  extent: DatasetExtent | undefined
  isExtentKnown: boolean
}

export function DataMap({ shown, extent, isExtentKnown }: DataMapProps): ReactElement {
  const [map, setMap] = useState<GraticuleMap | null>(null)
  const isFitted = useRef(isExtentKnown)
  useEffect(() => {
    // Fits extents that were loaded after the map, unless the user has already moved it.
    if (!map || isFitted.current || !isExtentKnown) return
    isFitted.current = true
    if (extent) map.gl.fitBounds(extent, { padding: 32, maxZoom: 12, animate: false })
  }, [map, extent, isExtentKnown])
  return (
    <MapView
      label="Map of all data"
      bounds={isExtentKnown ? extent : undefined}
      onReady={(ready) => {
        setMap(ready)
        ready.gl.once('dragstart', () => {
          isFitted.current = true
        })
      }}
    >
      {drawingOrder(shown).map((dataset) => (
        <DatasetLayer key={dataset.dataset.id} {...dataset} />
      ))}
    </MapView>
  )
}

/** Draws areas below lines below points, so that none hides another. */
const drawingOrder = (shown: readonly MapDataset[]): MapDataset[] =>
  [...shown].sort((one, other) => order.indexOf(one.shape) - order.indexOf(other.shape))

const order: readonly MapDataset['shape'][] = ['area', 'line', 'point']

function DatasetLayer({ dataset, colour }: MapDataset): ReactElement {
  const theme = useTheme()
  const navigate = useNavigate()
  const layers = useMemo(() => geometryLayers(colour[theme], theme === 'dark' ? '#10141a' : '#ffffff'), [colour, theme])
  const keys = dataset.attributes.filter(({ primaryKey }) => primaryKey)
  const popup = ({ feature, close }: PopupContext) => {
    const key = keys.length === 1 ? (feature.properties[keys[0]?.name ?? ''] ?? feature.id) : undefined
    const search = key === undefined ? {} : { sel: key }
    return popupElement({
      ...featureFacts(feature.properties, dataset.name),
      source: dataset.name,
      className: classes.popup ?? '',
      link: {
        text: key === undefined ? 'Open the dataset' : 'Open this row',
        href: consoleUrl(
          `data/${dataset.id}/table${key === undefined ? '' : `?sel=${encodeURIComponent(String(key))}`}`,
        ),
        onOpen: () => {
          close()
          void navigate({ to: '/data/$datasetId/table', params: { datasetId: dataset.id }, search: search as never })
        },
      },
    })
  }
  return <DataSource id={dataset.id} src={dataset.id} type="vector" layers={layers} selectionPopup={popup} />
}
