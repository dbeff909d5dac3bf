/** All fields of a row, with its geometry as text. */
import type { Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { CopyButton } from '../../../components/copyable.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { formatCell, typeIcon, typeLabel } from '../attribute.ts'
import { type DatasetAttribute, keyOf } from '../dataset.ts'
import { type Row, type RowId, whereIds } from './selection.ts'
import classes from './table.module.css'

interface RowDetailsProps {
  dataset: Dataset
  id: RowId
  tableRow: Row | undefined
}

/** Fetches the row again with its geometry, which the table does not have. */
export function RowDetails({ dataset, id, tableRow }: RowDetailsProps): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'row', id),
    queryFn: async ({ signal }) => {
      const [row] = await client.datasets.query<Row>(
        dataset.id,
        { where: whereIds([id], keyOf(dataset)), limit: 1 },
        { signal },
      )
      return row ?? null
    },
  })
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (data === null) return <p>This row is no longer there.</p>
  return <Fields attributes={dataset.attributes} row={data ?? tableRow} />
}

interface FieldsProps {
  attributes: readonly DatasetAttribute[]
  row: Row | undefined
}

/** The fields of a row that cannot be fetched again, because it has no key. */
export function Fields({ attributes, row }: FieldsProps) {
  return (
    <dl className={classes.fields}>
      {attributes.map((attribute) => (
        <div key={attribute.name}>
          <dt title={typeLabel(attribute)}>
            <Icon name={typeIcon(attribute.type)} size={14} />
            {attribute.name}
          </dt>
          <dd>
            <FieldValue attribute={attribute} row={row} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Long geometries are truncated on the screen, not in the clipboard. */
const shownLength = 400

interface FieldValueProps {
  attribute: DatasetAttribute
  row: Row | undefined
}

function FieldValue({ attribute, row }: FieldValueProps): ReactElement {
  if (!row || !(attribute.name in row)) return <Skeleton width="50%" height={12} />
  const text = formatCell(attribute, row[attribute.name])
  if (text === null) return <span className={classes.null}>null</span>
  const raw = row[attribute.name]
  return (
    <>
      <span>{text.length > shownLength ? `${text.slice(0, shownLength)}…` : text}</span>
      <CopyButton text={typeof raw === 'object' ? JSON.stringify(raw) : String(raw)} label={attribute.name} />
    </>
  )
}
