/** The facts of a tile set: origin, URLs, layers and attributes. */
import type { TileSource } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { serverAddress } from '../../address.ts'
import { Button } from '../../components/button.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note, Tag } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { builtIn, extensionOf, isVector, type TileJson } from './tile-set.ts'
import classes from './tiles.module.css'

/** The URLs to share, without the key, which would appear in every log on the way. */
export function useTileAddresses(id: string, tileJson: TileJson): { name: string; url: string }[] {
  const client = useClient()
  return [
    { name: 'TileJSON', url: client.tiles.url(id) },
    { name: 'Tiles', url: client.tiles.tileUrl(id, { ext: extensionOf(tileJson) }) },
    { name: 'Style', url: serverAddress(`tiles/${id}/style.json`) },
  ]
}

export interface TileFactsProps {
  id: string
  tileJson: TileJson
  record: TileSource | null
}

export function TileFacts({ id, tileJson, record }: TileFactsProps): ReactElement {
  const addresses = useTileAddresses(id, tileJson)
  return (
    <>
      <section className={layout.section} aria-labelledby="addresses">
        <h2 id="addresses">Addresses</h2>
        <dl className={classes.addresses}>
          {addresses.map(({ name, url }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Copyable text={url} label={`address of the ${name}`} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <Source id={id} tileJson={tileJson} record={record} />
      {isVector(tileJson) && <Layers tileJson={tileJson} />}
    </>
  )
}

function Source({ id, tileJson, record }: TileFactsProps): ReactElement {
  return (
    <section className={layout.section} aria-labelledby="source">
      <h2 id="source">Source</h2>
      {record?.type === 'tilelive' && <code className={classes.wrapped}>{record.source}</code>}
      {id === builtIn && <p>The map of the world that comes with the server.</p>}
      {record?.type !== 'tilelive' && id !== builtIn && (
        <Link to="/data/$datasetId" params={{ datasetId: record?.source ?? id }}>
          Dataset {tileJson.vector_layers?.[0]?.description || tileJson.name}
        </Link>
      )}
      {!record && id !== builtIn && <MakeTileSource id={id} />}
    </section>
  )
}

interface MakeTileSourceProps {
  id: string
}

/** Creates a tile source for a dataset, to set zooms, extent or name; the dataset's own tiles have none. */
function MakeTileSource({ id }: MakeTileSourceProps): ReactElement {
  const client = useClient()
  const queries = useQueryClient()
  const refusal = useRefusal()('tiles', 'write')
  const make = useMutation({
    mutationFn: () => client.tileSources.create({ type: 'dataset', source: id }),
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.tilesources.all }),
  })
  return (
    <Note>
      <p>These are the tiles of a dataset. To change their zooms, extent or name, make a tile source of it.</p>
      {make.error && <ErrorNote error={make.error} />}
      {make.data ? (
        <Link to="/tiles/$tileSourceId" params={{ tileSourceId: make.data.id }}>
          Open the tile source
        </Link>
      ) : (
        <Button icon="plus" disabled={make.isPending} disabledReason={refusal} onClick={() => make.mutate()}>
          Make a tile source
        </Button>
      )}
    </Note>
  )
}

interface LayersProps {
  tileJson: TileJson
}

function Layers({ tileJson: { vector_layers: layers = [] } }: LayersProps): ReactElement {
  return (
    <section className={layout.section} aria-labelledby="layers">
      <h2 id="layers">{layers.length === 1 ? '1 layer' : `${layers.length} layers`}</h2>
      {layers.map(({ id, fields, minzoom, maxzoom }) => (
        <div key={id}>
          <strong>{id}</strong>{' '}
          <span className={classes.quiet}>{minzoom === undefined ? '' : `zoom ${minzoom} to ${maxzoom}`}</span>
          <p className={classes.fields}>
            {Object.entries(fields).map(([name, type]) => (
              <Tag key={name}>
                {name} <span className={classes.quiet}>{type.toLowerCase()}</span>
              </Tag>
            ))}
          </p>
        </div>
      ))}
    </section>
  )
}
