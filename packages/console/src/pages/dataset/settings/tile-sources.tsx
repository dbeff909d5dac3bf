/** The tile sources of a dataset. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay, useRefusal } from '../../../session/session.tsx'
import { geometryOf } from '../dataset.ts'
import classes from './settings.module.css'

/** All that are made of the dataset. */
function useTileSources(datasetId: string) {
  const client = useClient()
  const params = { filter: { type: 'dataset', source: datasetId }, limit: 500 } as const
  return useQuery({
    queryKey: queryKeys.tilesources.listWith(params),
    queryFn: ({ signal }) => client.tileSources.list({ ...params, signal }),
    enabled: useMay()('tiles', 'read'),
  })
}

interface TileSourcesProps {
  dataset: Dataset
}

export function TileSources({ dataset }: TileSourcesProps): ReactElement {
  const { data, error, isLoading } = useTileSources(dataset.id)
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const refusal = useRefusal()('tiles', 'write')
  const make = useMutation({
    mutationFn: () => client.tileSources.create({ type: 'dataset', source: dataset.id, name: dataset.name }),
    onSuccess: async ({ id }) => {
      await cache.invalidateQueries({ queryKey: queryKeys.tilesources.all })
      await navigate({ to: '/tiles/$tileSourceId', params: { tileSourceId: id } })
    },
  })
  const noGeometry = geometryOf(dataset)
    ? undefined
    : 'This dataset has no geometry, so there is nothing to put on tiles.'
  return (
    <section className={classes.section} aria-label="Tile sources">
      <h2>Tile sources</h2>
      <p className={classes.muted}>
        Vector tiles of this dataset, with zooms, an extent and an attribution of their own.
      </p>
      {isLoading && <Skeleton height={36} />}
      {error && <ErrorNote error={error} />}
      {data && data.length > 0 && (
        <ul className={classes.sources}>
          {data.map(({ id, name, minZoom, maxZoom }) => (
            <li key={id}>
              <Link to="/tiles/$tileSourceId" params={{ tileSourceId: id }}>
                {name || dataset.name}
              </Link>
              <span className={classes.muted}>
                zoom {minZoom} to {maxZoom}
              </span>
            </li>
          ))}
        </ul>
      )}
      {make.error && <ErrorNote error={make.error} />}
      <div>
        <Button
          icon="plus"
          disabled={make.isPending}
          disabledReason={noGeometry ?? refusal}
          onClick={() => make.mutate()}
        >
          New tile source
        </Button>
      </div>
    </section>
  )
}
