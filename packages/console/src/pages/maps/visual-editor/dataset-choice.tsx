/** A selection of datasets with a geometry. */

import { geometryOf } from '@graticule/map/recipe'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { TextField } from '../../../components/field.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { useClient } from '../../../session/session.tsx'
import { type DatasetSummary, datasetListQuery } from '../styles-query.ts'
import classes from './dataset-choice.module.css'

const kinds = { point: 'points', line: 'lines', area: 'areas', mixed: 'mixed geometries' }

interface DatasetChoiceProps {
  onChoose(dataset: DatasetSummary): void
}

export function DatasetChoice({ onChoose }: DatasetChoiceProps): ReactElement {
  const client = useClient()
  const [search, setSearch] = useState('')
  const { data, error, refetch } = useQuery(datasetListQuery(client))
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={120} />
  const drawable = data.filter((dataset) => geometryOf(dataset))
  const wanted = search.trim().toLowerCase()
  const matches = drawable.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted))
  if (drawable.length === 0)
    return <p>There is no dataset with a geometry yet. Upload a file or publish a table first.</p>
  return (
    <>
      <TextField label="Search datasets" type="search" value={search} onChange={setSearch} />
      <ul className={classes.choices} aria-label="Datasets">
        {matches.map((dataset) => (
          <li key={dataset.id}>
            <button type="button" onClick={() => onChoose(dataset)}>
              <strong>{dataset.name}</strong>
              <span>{kinds[geometryOf(dataset) ?? 'mixed']}</span>
            </button>
          </li>
        ))}
      </ul>
      {matches.length === 0 && <p>No dataset of {drawable.length} has this in its name.</p>}
    </>
  )
}
