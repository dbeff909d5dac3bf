/** Chooses what a popup tells of a feature: its name, the attributes that the map shows, then the most useful others. */
import type { Dataset } from '@graticule/client'
import type { PopupFields } from '@graticule/map/recipe'
import {
  isBookkeeping,
  isIdentifier,
  isMeasuredGeometry,
  isMeasureName,
  isPosition,
  isTitle,
  isTitleLike,
} from './attribute-names.ts'
import type { DatasetLook } from './telling-attribute.ts'

const maxFields = 6
const shown = new Set(['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'time'])

type Attribute = Pick<Dataset['attributes'][number], 'name' | 'type' | 'primaryKey'>

export function popupFields(attributes: readonly Attribute[], { colour, size }: DatasetLook): PopupFields {
  const texts = attributes.filter(({ type, primaryKey }) => type === 'string' && !primaryKey)
  const titles = [
    texts.find(({ name }) => isTitle(name)),
    texts.find(({ name }) => isTitleLike(name) && !isIdentifier(name)),
    texts.find(({ name }) => !isIdentifier(name) && !isBookkeeping(name)),
  ]
  const title = titles.find((attribute) => attribute !== undefined)?.name ?? null
  const rank = ({ name, type, primaryKey }: Attribute): number => {
    if (name === colour || name === size) return 0
    if (isPosition(name) || isMeasuredGeometry(name)) return 5
    if (primaryKey || isIdentifier(name)) return 4
    if (isBookkeeping(name)) return 3
    return isMeasureName(name) && type !== 'string' ? 1 : 2
  }
  const fields = attributes
    .filter(({ name, type }) => name !== title && shown.has(type))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, maxFields)
  return { title, fields: fields.map(({ name }) => name) }
}
