/** What all fields of cells share. */
import type { DatasetAttribute } from '../dataset.ts'
import type { CellDraft } from './cell-draft.ts'

export interface CellFieldProps {
  attribute: DatasetAttribute
  cell: CellDraft
  /** Whether the row is new: then a cell can be left to the database. */
  isNew: boolean
  error: string | undefined
  onChange(cell: CellDraft): void
}

/** Whether a new row must have a value. */
const isRequired = ({ nullable, generated, ...attribute }: DatasetAttribute): boolean =>
  !nullable && !generated && attribute.default === undefined

/** What is shown in a field without a value. */
export function placeholderOf({ attribute, cell }: Pick<CellFieldProps, 'attribute' | 'cell'>): string {
  const { primaryKey, type, generated } = attribute
  if (cell.mode === 'null') return 'null'
  if (cell.mode === 'value') return examples[type] ?? ''
  if (generated || (primaryKey && (type === 'integer' || type === 'uuid'))) return 'given by the database'
  return attribute.default ? `default: ${attribute.default}` : isRequired(attribute) ? 'required' : 'null'
}

const examples: Partial<Record<DatasetAttribute['type'], string>> = {
  string: 'empty text',
  datetime: '2027-01-31T12:00:00Z',
  date: '2027-01-31',
  time: '12:30:00',
  json: '{"a": 1}',
  array: '["a", "b"]',
  binary: 'bytes in Base64',
}
