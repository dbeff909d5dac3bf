/** The draft of the changes of a column that is there, and the request that makes them. */
import type { DatasetsChangeColumnBody } from '@graticule/client'
import type { DatasetAttribute } from '../../dataset.ts'
import {
  type ColumnDraft,
  type ColumnKindName,
  columnFault,
  columnKindNames,
  columnOf,
  dbTypeOf,
  emptyColumn,
  kindOf,
} from '../column-draft.ts'

export interface ColumnChangeDraft extends ColumnDraft {
  /** Removes the default. */
  hasNoDefault: boolean
}

/** Of a type that has no kind here, such as a smaller integer, that of its values. */
function kindOfAttribute({ type, dbType }: DatasetAttribute): ColumnKindName {
  const bare = dbType.replace(/\(.*/, '').replace('character varying', 'text')
  const alike = columnKindNames.filter((name) => kindOf(name).type === type)
  return alike.find((name) => kindOf(name).dbType === bare) ?? alike[0] ?? 'text'
}

const sizeOfAttribute = ({ type, dbType }: DatasetAttribute): string =>
  type === 'geometry' ? '' : (/\(([\d,]+)\)$/.exec(dbType)?.[1] ?? '')

export const draftOfAttribute = (attribute: DatasetAttribute): ColumnChangeDraft => ({
  ...emptyColumn,
  name: attribute.name,
  kind: kindOfAttribute(attribute),
  size: sizeOfAttribute(attribute),
  isRequired: !attribute.nullable,
  isKey: attribute.primaryKey,
  description: attribute.description,
  hasNoDefault: false,
})

const convertible = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'time', 'uuid', 'json']

/** Why the type stays as it is. */
export function typeRefusal({ type, primaryKey, generated }: DatasetAttribute): string | undefined {
  if (primaryKey) return 'The key addresses the rows: its type stays.'
  if (generated === 'always') return 'The database computes the values: their type stays.'
  return convertible.includes(type) ? undefined : 'Values of this type cannot be converted to another one.'
}

/** The kinds that its values can be converted to. */
export const kindsFor = (attribute: DatasetAttribute): ColumnKindName[] =>
  columnKindNames.filter((name) => convertible.includes(kindOf(name).type) || name === kindOfAttribute(attribute))

/** The type to convert to; undefined where it stays. */
export function newDbType(attribute: DatasetAttribute, draft: ColumnChangeDraft): string | undefined {
  const before = draftOfAttribute(attribute)
  const isSame = draft.kind === before.kind && draft.size.trim() === before.size
  return isSame || columnFault(draft) ? undefined : dbTypeOf(draft)
}

/** What differs. */
export function changeOf(attribute: DatasetAttribute, draft: ColumnChangeDraft): DatasetsChangeColumnBody {
  const dbType = newDbType(attribute, draft)
  const { name, description = '', default: preset } = columnOf(draft)
  return {
    ...(name !== attribute.name && { name }),
    ...(dbType !== undefined && { dbType }),
    ...(description !== attribute.description && { description }),
    ...(!draft.isKey && draft.isRequired === attribute.nullable && { nullable: !draft.isRequired }),
    ...(draft.hasNoDefault ? { default: null } : preset !== undefined && { default: preset }),
  }
}
