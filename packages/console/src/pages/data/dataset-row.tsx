/** One dataset of the list, with its actions. */
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { IconButton } from '../../components/button.tsx'
import { GeometryGlyph, geometryKind } from '../../components/geometry-glyph.tsx'
import { Menu, type MenuItem } from '../../components/popup/menu.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatBytes, formatCompact, formatDate, formatNumber, formatRelative, formatRows } from '../../format.ts'
import { useRefusal } from '../../session/session.tsx'
import { useActivityItem } from '../activity/activity-item.ts'
import classes from './data.module.css'
import { useDeleteDataset } from './delete-dataset.tsx'
import { ExtentThumbnail } from './extent-thumbnail.tsx'
import { typeNames } from './type-names.ts'
import { type ListedDataset, type TilesOfDataset, tagsOf } from './use-datasets.ts'

interface DatasetRowProps {
  dataset: ListedDataset
  tiles: TilesOfDataset | undefined
  /** Whether another one has the same name. */
  isTwin: boolean
  isPicked: boolean
  onPick(): void
  onTag(tag: string): void
}

/** Estimates above this are rounded. */
const roundFrom = 1_000_000

export function DatasetRow({ dataset, tiles, isTwin, isPicked, onPick, onTag }: DatasetRowProps): ReactElement {
  const { id, name, type, description, attributes, bytes, rowEstimate, updatedAt } = dataset
  const geometry = attributes.find((attribute) => attribute.type === 'geometry')
  const rows =
    rowEstimate === null ? null : rowEstimate < roundFrom ? formatNumber(rowEstimate) : formatCompact(rowEstimate)
  const rowsText =
    rowEstimate === null ? null : rowEstimate < roundFrom ? formatRows(rowEstimate) : `about ${rows} rows`
  const size = bytes === null ? null : formatBytes(bytes)
  const changed = (
    <time dateTime={updatedAt} title={formatDate(updatedAt)}>
      {formatRelative(updatedAt)}
    </time>
  )
  return (
    <tr data-picked={isPicked}>
      <td className={classes.pickCell}>
        <input type="checkbox" aria-label={`Select ${name}`} checked={isPicked} onChange={onPick} />
      </td>
      <td className={classes.nameCell}>
        <div className={classes.name}>
          <GeometryGlyph kind={geometryKind(geometry && (geometry.geometryType ?? 'Geometry'))} />
          <Link to="/data/$datasetId/table" params={{ datasetId: id }} title={description || name}>
            {name}
          </Link>
          {isTwin && <small className={classes.twin}>{twinText(dataset)}</small>}
          {tagsOf(dataset).map((tag) => (
            <button key={tag} type="button" className={classes.tag} onClick={() => onTag(tag)}>
              <span className="visually-hidden">Show what is tagged </span>
              {tag}
            </button>
          ))}
        </div>
        <p className={classes.phoneFacts}>
          {[typeNames[type], rowsText, size].filter(Boolean).join(' · ')} · {changed}
        </p>
      </td>
      <td>{typeNames[type]}</td>
      <td data-align="end">{rows ?? '–'}</td>
      <td data-align="end">{size ?? '–'}</td>
      <td className={classes.extentCell}>{tiles && <ExtentThumbnail extent={tiles.extent} />}</td>
      <td data-align="end">{changed}</td>
      <td className={classes.menuCell}>
        <Menu
          trigger={<IconButton icon="moreVertical" label={`Actions for ${name}`} />}
          items={useDatasetActions(dataset, tiles)}
        />
      </td>
    </tr>
  )
}

/** What tells a dataset from another one of its name. */
const twinText = ({ type, source, createdAt }: ListedDataset): string =>
  [type === 'table' && source, `made ${formatDate(createdAt)}`].filter(Boolean).join(', ')

function useDatasetActions(dataset: ListedDataset, tiles: TilesOfDataset | undefined): (MenuItem | '-')[] {
  const navigate = useNavigate()
  const { say } = useToast()
  const refusal = useRefusal()
  const remove = useDeleteDataset()
  const { id, name } = dataset
  const activity = useActivityItem({ kind: 'datasets', record: id })
  return [
    {
      label: 'Open',
      icon: 'table',
      onSelect: () => void navigate({ to: '/data/$datasetId/table', params: { datasetId: id } }),
    },
    {
      label: 'View on map',
      icon: 'maps',
      disabledReason: tiles ? undefined : 'It has no tile source: nothing to draw yet.',
      onSelect: () => void navigate({ to: '/tiles/$tileSourceId', params: { tileSourceId: tiles?.id ?? id } }),
    },
    {
      label: 'Style it',
      icon: 'palette',
      disabledReason: refusal('styles', 'write'),
      // The page of maps reads it off the address.
      onSelect: () => void navigate({ href: `/maps?dataset=${id}` }),
    },
    {
      label: 'Copy id',
      icon: 'copy',
      onSelect: () => void navigator.clipboard.writeText(id).then(() => say({ title: 'The id is copied', text: id })),
    },
    activity,
    '-',
    {
      label: 'Delete …',
      icon: 'trash',
      isDanger: true,
      disabledReason: refusal('datasets', 'write', id),
      onSelect: () => void remove({ id, name, type: dataset.type }),
    },
  ]
}
