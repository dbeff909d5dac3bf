/** The tile inspector: the tiles on a map with their grid, details of one tile, and settings. */
import { ApiError, type TileSource } from '@graticule/client'
import type { GraticuleMap } from '@graticule/map'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactElement, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { useClient } from '../../session/session.tsx'
import { TileActions } from './tile-actions.tsx'
import { draftOf, extentOf, type TileSetExtent } from './tile-draft.ts'
import { TileFacts } from './tile-facts.tsx'
import { TileMap } from './tile-map.tsx'
import { TilePanel } from './tile-panel.tsx'
import { parseTile, type TileAddress, tileKey } from './tile-pyramid.ts'
import { createTileRecorder, type TileRecorder } from './tile-recorder.ts'
import { isVector, type TileJson, useTileJson, useTileSource } from './tile-set.ts'
import { TileSettings } from './tile-settings.tsx'
import classes from './tiles.module.css'
import { TilesInView } from './tiles-in-view.tsx'

const toMaps = { to: '/maps', label: 'Back to Maps' }

export function TileSourcePage(): ReactElement {
  const { tileSourceId: id } = useParams({ from: '/shell/tiles/$tileSourceId' })
  const tileJson = useTileJson(id)
  const record = useTileSource(id)
  const error = tileJson.error ?? record.error
  if (tileJson.data && record.data !== undefined)
    return <Inspector key={id} id={id} tileJson={tileJson.data} record={record.data} />
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title="Tile source" back={toMaps}>
        <Empty title="There is no such tile source">
          <p>It may have been deleted, or this key may not see it.</p>
        </Empty>
      </Page>
    )
  }
  return (
    <Page title="Tile source" back={toMaps}>
      {error ? (
        <ErrorNote
          error={error}
          onRetry={() => {
            void tileJson.refetch()
            void record.refetch()
          }}
        />
      ) : (
        <Skeleton height="60vh" />
      )}
    </Page>
  )
}

interface InspectorProps {
  id: string
  tileJson: TileJson
  record: TileSource | null
}

function Inspector({ id, tileJson, record }: InspectorProps): ReactElement {
  const client = useClient()
  // A new recorder for another tile set.
  const recorder = useMemo(() => createTileRecorder(client), [client, tileJson])
  const [draft, setDraft] = useState(() => record && draftOf(record))
  const [inView, setInView] = useState<readonly TileAddress[]>([])
  const map = useRef<GraticuleMap | null>(null)
  const { selected, select } = useSelectedTile()
  return (
    <Page
      title={record?.name || tileJson.name}
      facts={factsOf(tileJson, record)}
      back={toMaps}
      actions={<TileActions id={id} tileJson={tileJson} record={record} />}
      isPadded={false}
    >
      <div className={classes.inspector}>
        <div className={classes.map}>
          <TileMap
            tileJson={tileJson}
            recorder={recorder}
            extent={draft ? extentOf(draft) : tileJson.bounds}
            selected={selected}
            onSelect={select}
            onView={setInView}
            onReady={(ready) => {
              map.current = ready
            }}
          />
        </div>
        <div className={classes.side}>
          {selected && (
            <MeasuredTile
              key={tileKey(selected)}
              id={id}
              tileJson={tileJson}
              recorder={recorder}
              selected={selected}
              select={select}
            />
          )}
          {!selected && <p>Click a tile to see its size, what is in it and how it is made.</p>}
          {!selected && record && draft && (
            <TileSettings record={record} draft={draft} onDraft={setDraft} getView={() => viewOf(map.current)} />
          )}
          {!selected && <TileFacts id={id} tileJson={tileJson} record={record} />}
          {!selected && <TilesInView tiles={inView} recorder={recorder} onSelect={select} />}
        </div>
      </div>
    </Page>
  )
}

interface MeasuredTileProps {
  id: string
  tileJson: TileJson
  recorder: TileRecorder
  selected: TileAddress
  select(tile: TileAddress | undefined): void
}

function MeasuredTile({ id, tileJson, recorder, selected, select }: MeasuredTileProps): ReactElement {
  useSyncExternalStore(recorder.subscribe, recorder.getCount)
  const measure = recorder.get(tileKey(selected))
  return <TilePanel id={id} tile={selected} tileJson={tileJson} measure={measure} onClose={() => select(undefined)} />
}

/** The selected tile is in the URL: `?tile=2/2/1`. */
function useSelectedTile() {
  const { tile } = useSearch({ from: '/shell/tiles/$tileSourceId' })
  const navigate = useNavigate({ from: '/tiles/$tileSourceId' })
  const select = (next: TileAddress | undefined) =>
    void navigate({ to: '.', search: next ? { tile: tileKey(next) } : {}, replace: tile !== undefined })
  return { selected: useMemo(() => parseTile(tile), [tile]), select }
}

function viewOf(map: GraticuleMap | null): TileSetExtent | undefined {
  const bounds = map?.gl.getBounds()
  if (!bounds) return undefined
  const clamp = (value: number, limit: number) => Math.min(limit, Math.max(-limit, value))
  return [
    clamp(bounds.getWest(), 180),
    clamp(bounds.getSouth(), 85),
    clamp(bounds.getEast(), 180),
    clamp(bounds.getNorth(), 85),
  ]
}

function factsOf({ minzoom, maxzoom, format, ...tileJson }: TileJson, record: TileSource | null): string {
  const kind = isVector(tileJson) ? 'vector tiles' : `${format ?? 'image'} tiles`
  const origin = record?.type === 'tilelive' ? 'of an archive' : 'of a dataset'
  return `${kind} ${origin} · zoom ${minzoom} to ${maxzoom}`
}
