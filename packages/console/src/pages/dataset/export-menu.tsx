/** Exports the filtered and sorted rows in any format of the server, or copies a curl command for it. */
import type { Dataset, DatasetQuery } from '@graticule/client'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { serverUrl } from '../../address.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatBytes } from '../../format.ts'
import { useIsPhone } from '../../media.ts'
import { saveFile } from '../../save-file.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { geometryOf } from './dataset.ts'
import classes from './dataset-page.module.css'
import { type ExportFormat, exportFormats, fetchExport, fileName } from './export.ts'
import { curlSnippet } from './snippets/snippet-input.ts'
import { orderOf, parseSort } from './sort.ts'
import { useView } from './view.ts'

const labels: Record<ExportFormat, string> = {
  csv: 'CSV',
  xlsx: 'Excel',
  geojson: 'GeoJSON',
  gpkg: 'GeoPackage',
  parquet: 'GeoParquet',
  fgb: 'FlatGeobuf',
  shp: 'Shapefile',
  kml: 'KML',
  ndjson: 'GeoJSON text sequence',
  json: 'JSON',
}

/** Formats that are for geometries only. */
const spatial: ReadonlySet<ExportFormat> = new Set(['geojson', 'fgb', 'shp', 'kml', 'ndjson'])

interface ExportMenuProps {
  dataset: Dataset
}

export function ExportMenu({ dataset }: ExportMenuProps): ReactElement {
  const toast = useToast()
  const isPhone = useIsPhone()
  const refusal = useRefusal()('datasets', 'execute', dataset.id)
  const query = useShownQuery()
  const { running, start } = useExport(dataset, query)
  const copyCurl = async () => {
    const server = serverUrl.replace(/\/$/, '')
    await navigator.clipboard.writeText(curlSnippet({ server, dataset, query, parameters: {} }, { format: 'csv' }))
    toast.say({ title: 'The curl command is in the clipboard', text: 'Put your key where it says YOUR_KEY.' })
  }
  const items = exportFormats.map((format) => ({
    label: labels[format],
    icon: 'download' as const,
    disabledReason: spatial.has(format) && !geometryOf(dataset) ? 'This dataset has no geometry.' : undefined,
    onSelect: () => void start(format),
  }))
  if (running)
    return (
      <span role="status" className={classes.export}>
        {labels[running.format]} {formatBytes(running.bytes)} …
        <IconButton icon="close" label="Cancel the export" onClick={() => running.abort.abort()} />
      </span>
    )
  return (
    <Menu
      trigger={
        isPhone ? (
          <IconButton icon="download" label="Export" disabledReason={refusal} />
        ) : (
          <Button icon="download" disabledReason={refusal}>
            Export
          </Button>
        )
      }
      items={[
        ...items,
        '-',
        {
          label: 'Copy as curl',
          icon: 'code',
          onSelect: () => void copyCurl().catch((error) => toast.fail('The command could not be copied', error)),
        },
      ]}
    >
      <p className={classes.exportHint}>{query.where ? 'Rows that match the filter' : 'All rows'}, with geometry</p>
    </Menu>
  )
}

/** The filter and the sort order of the URL. */
function useShownQuery(): DatasetQuery {
  const { where, sort } = useView()
  const order = orderOf(parseSort(sort))
  return { ...(where && { where }), ...(order.length > 0 && { order }) }
}

interface RunningExport {
  format: ExportFormat
  bytes: number
  abort: AbortController
}

/** The update interval of the progress, slow enough to read. */
const shownEveryMs = 200

function useExport(dataset: Dataset, query: DatasetQuery) {
  const client = useClient()
  const toast = useToast()
  const [running, setRunning] = useState<RunningExport | null>(null)
  const current = useRef<AbortController>(null)
  useEffect(() => () => current.current?.abort(), [])
  const start = async (format: ExportFormat) => {
    const abort = new AbortController()
    current.current = abort
    setRunning({ format, bytes: 0, abort })
    let shown = performance.now()
    const onBytes = (bytes: number) => {
      if (performance.now() - shown < shownEveryMs) return
      shown = performance.now()
      setRunning({ format, bytes, abort })
    }
    try {
      const blob = await fetchExport(client, { dataset, query, format }, { signal: abort.signal, onBytes })
      const name = fileName(dataset.name, format)
      saveFile(blob, name)
      toast.say({ title: `Saved ${name}`, text: formatBytes(blob.size) })
    } catch (error) {
      if (abort.signal.aborted) toast.say({ title: 'The export was cancelled' })
      else toast.fail('The export failed', error)
    } finally {
      setRunning(null)
    }
  }
  return { running, start }
}
