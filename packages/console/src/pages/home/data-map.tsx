/** The map of the home page: each dataset in its own look, with popups. */
import type { GraticuleMap, PopupContext } from '@graticule/map'
import { DataSource } from '@graticule/map/react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useMemo, useState } from 'react'
import { consoleUrl } from '../../address.ts'
import lookClasses from '../../look/look.module.css'
import { LookCard } from '../../look/look-card.tsx'
import { popupFields } from '../../look/popup-fields.ts'
import { sourceLook } from '../../look/source-look.ts'
import type { DatasetLook } from '../../look/telling-attribute.ts'
import { useLook } from '../../look/use-look.ts'
import { geometryLayers } from '../../map/geometry-layers.ts'
import { MapView } from '../../map/map-view.tsx'
import { featureFacts, popupElement } from '../../map/popups/feature-popup.ts'
import { useTheme } from '../../theme.ts'
import type { DatasetExtent, MapDataset } from './map-dataset.ts'

export interface DataMapProps {
  shown: readonly MapDataset[]
  extent: DatasetExtent | undefined
  /** The datasets that the map fits, by their ids. */
  extentOf: string
}

export function DataMap({ shown, extent, extentOf }: DataMapProps): ReactElement {
  const [map, setMap] = useState<GraticuleMap | null>(null)
  return (
    <MapView label="Map of all data" bounds={extent} boundsOf={extentOf} onReady={setMap}>
      <div className={lookClasses.cards}>
        {drawingOrder(shown).map((dataset) => (
          <LookedDataset key={dataset.dataset.id} {...dataset} map={map} />
        ))}
      </div>
    </MapView>
  )
}

/** Draws areas below lines below points, so that none hides another. */
const drawingOrder = (shown: readonly MapDataset[]): MapDataset[] =>
  [...shown].sort((one, other) => order.indexOf(one.shape) - order.indexOf(other.shape))

const order: readonly MapDataset['shape'][] = ['area', 'line', 'point']

interface LookedDatasetProps extends MapDataset {
  map: GraticuleMap | null
}

function LookedDataset({ map, ...drawn }: LookedDatasetProps): ReactElement {
  const access = useLook(drawn.dataset)
  return (
    <>
      <DatasetLayer {...drawn} look={access.look} />
      <LookCard {...access} dataset={drawn.dataset} sourceId={drawn.dataset.id} map={map} />
    </>
  )
}

interface DatasetLayerProps extends MapDataset {
  look: DatasetLook
}

function DatasetLayer({ dataset, colour, look }: DatasetLayerProps): ReactElement {
  const theme = useTheme()
  const navigate = useNavigate()
  const layers = useMemo(() => geometryLayers(colour[theme], theme === 'dark' ? '#10141a' : '#ffffff'), [colour, theme])
  const keys = dataset.attributes.filter(({ primaryKey }) => primaryKey)
  const fields = useMemo(() => popupFields(dataset.attributes, look), [dataset.attributes, look])
  const popup = ({ feature, close }: PopupContext) => {
    const key = keys.length === 1 ? (feature.properties[keys[0]?.name ?? ''] ?? feature.id) : undefined
    const search = key === undefined ? {} : { sel: key }
    return popupElement({
      ...featureFacts(feature.properties, fields, dataset.name),
      source: dataset.name,
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
  const source = sourceLook(look)
  return (
    <DataSource
      id={dataset.id}
      src={dataset.id}
      type="vector"
      {...source}
      {...(Object.keys(source).length === 0 && { layers })}
      selectionPopup={popup}
    />
  )
}
