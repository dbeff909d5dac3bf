/** The tile sources of the application. */
import type { TileSource } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Empty, Skeleton } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { formatRelative } from '../../../format.ts'
import { useClient } from '../../../session/session.tsx'
import { datasetListQuery, tileSourceListQuery } from '../styles-query.ts'
import classes from './maps-page.module.css'

const typeTexts = { dataset: 'Dataset', tilelive: 'Archive or server' }

interface TileSourceListProps {
  search: string
}

export function TileSourceList({ search }: TileSourceListProps): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery(tileSourceListQuery(client))
  const { data: datasets = [] } = useQuery(datasetListQuery(client))
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={160} />
  const names = new Map(datasets.map(({ id, name }) => [id, name]))
  const sources = data.map((source) => ({ source, name: nameOf(source, names) }))
  const wanted = search.trim().toLowerCase()
  const matches = sources.filter(({ name, source }) => `${name} ${source.source}`.toLowerCase().includes(wanted))
  if (data.length === 0) {
    return (
      <Empty title="Tile sources would be here">
        <p>A tile source serves a dataset, an archive of tiles or another tile server to maps.</p>
      </Empty>
    )
  }
  if (matches.length === 0) return <p className={classes.none}>0 of {data.length} tile sources.</p>
  return (
    <div className={layout.scroll}>
      <table className={layout.list}>
        <thead>
          <tr>
            <th>Name</th>
            <th>Type</th>
            <th>Zoom</th>
            <th className={classes.wide}>Source</th>
            <th className={classes.wide}>Changed</th>
          </tr>
        </thead>
        <tbody>
          {matches.map(({ source, name }) => (
            <tr key={source.id}>
              <td>
                <Link to="/tiles/$tileSourceId" params={{ tileSourceId: source.id }}>
                  {name}
                </Link>
              </td>
              <td>{typeTexts[source.type]}</td>
              <td>
                {source.minZoom} – {source.maxZoom}
              </td>
              <td className={classes.wide}>
                {source.type === 'dataset' ? (names.get(source.source) ?? 'a dataset') : <code>{source.source}</code>}
              </td>
              <td className={classes.wide}>{formatRelative(source.updatedAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const nameOf = ({ name, type, source, id }: TileSource, datasets: ReadonlyMap<string, string>): string =>
  name || (type === 'dataset' ? (datasets.get(source) ?? id) : source.replace(/^.*\/\//, ''))
