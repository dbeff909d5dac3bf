/** The list of datasets next to the map, with colour, size and a visibility toggle. */
import type { Dataset } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { faultOf } from '../../components/error-note.tsx'
import { Icon } from '../../components/icon.tsx'
import { Skeleton } from '../../components/note.tsx'
import { formatBytes, formatCompact, formatNumber } from '../../format.ts'
import { LegendSymbol } from '../../map/legend.tsx'
import { useTheme } from '../../theme.ts'
import classes from './home.module.css'
import type { MapDataset } from './map-dataset.ts'

export interface OnTheMapProps {
  rows: readonly Dataset[]
  total: number
  drawn: readonly MapDataset[]
  /** Errors of datasets that cannot be drawn. */
  failures: ReadonlyMap<string, Error>
  shownIds: readonly string[]
  onToggle(id: string): void
}

export function OnTheMap({ rows: datasets, total, drawn, failures, shownIds, onToggle }: OnTheMapProps): ReactElement {
  const rest = datasets.filter((dataset) => !drawn.some((other) => other.dataset === dataset))
  return (
    <section aria-labelledby="on-the-map">
      <h2 id="on-the-map">On the map</h2>
      {drawn.length === 0 && <p className={classes.quiet}>No dataset has a geometry.</p>}
      <ul className={classes.datasets}>
        {drawn.map((one) => (
          <DrawnRow
            key={one.dataset.id}
            {...one}
            failure={failures.get(one.dataset.id)}
            isShown={shownIds.includes(one.dataset.id)}
            onToggle={onToggle}
          />
        ))}
        {rest.map((dataset) => (
          <li key={dataset.id}>
            <span className={classes.toggle} title="Has no geometry, so it is not on the map">
              <Icon name="table" />
            </span>
            <Name dataset={dataset} />
          </li>
        ))}
      </ul>
      {total > datasets.length && (
        <Link to="/data" className={classes.all}>
          {`The ${datasets.length} changed last; see all ${formatNumber(total)}`}
        </Link>
      )}
    </section>
  )
}

interface DrawnRowProps extends MapDataset {
  failure: Error | undefined
  isShown: boolean
  onToggle(id: string): void
}

function DrawnRow({ dataset, colour, shape, failure, isShown, onToggle }: DrawnRowProps): ReactElement {
  const theme = useTheme()
  return (
    <li>
      <label className={classes.toggle}>
        <input
          type="checkbox"
          aria-label={`Show ${dataset.name} on the map`}
          checked={isShown && !failure}
          disabled={failure !== undefined}
          onChange={() => onToggle(dataset.id)}
        />
        <LegendSymbol item={{ colour: colour[theme], shape }} />
      </label>
      <Name dataset={dataset} />
      {failure && <p className={classes.failure}>Not drawn: {faultOf(failure).message}</p>}
    </li>
  )
}

interface NameProps {
  dataset: Dataset
}

function Name({ dataset }: NameProps): ReactElement {
  return (
    <>
      <Link to="/data/$datasetId" params={{ datasetId: dataset.id }} className={classes.name} title={dataset.name}>
        {dataset.name}
      </Link>
      <span className={classes.size}>{sizeOf(dataset)}</span>
    </>
  )
}

function sizeOf({ rowEstimate, bytes, type }: Dataset): string {
  if (rowEstimate !== null) return rowEstimate < 10_000 ? formatNumber(rowEstimate) : formatCompact(rowEstimate)
  return bytes === null ? type : formatBytes(bytes)
}

export function ListSkeleton(): ReactElement {
  return (
    <div className={classes.skeletons}>
      {[140, 180, 120].map((width) => (
        <Skeleton key={width} width={width} height={20} />
      ))}
    </div>
  )
}
