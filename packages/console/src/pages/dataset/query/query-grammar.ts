/** The keywords of queries: members, operators by type, aggregates (see docs/api.md). */
import type { Word } from '../../../components/code-editor/completion.ts'
import type { ColumnType } from '../attribute.ts'

export const queryFields: ReadonlyMap<string, string> = new Map([
  ['attributes', 'what to return'],
  ['where', 'conditions'],
  ['order', 'what to sort by, "-name" downwards'],
  ['group', 'what to group by'],
  ['distinct', 'one row for each of these'],
  ['sample', '{ percentage, method, seed }'],
  ['nearest', '{ point: [lon, lat] }'],
  ['limit', 'how many rows'],
  ['offset', 'how many to leave out'],
])

export const aggregates: readonly string[] = ['count', 'sum', 'avg', 'min', 'max', 'extent', 'area', 'length']

export const logic: readonly string[] = ['$and', '$or', '$not']

const ordered: readonly ColumnType[] = ['string', 'integer', 'number', 'date', 'datetime', 'time', 'uuid']
const scalar: readonly ColumnType[] = [...ordered, 'boolean']
const equatable: readonly ColumnType[] = [...scalar, 'json', 'array']
const text: readonly ColumnType[] = ['string']
const geometry: readonly ColumnType[] = ['geometry']

const operators: readonly (readonly [name: string, types: readonly ColumnType[] | 'all', detail: string])[] = [
  ['$eq', equatable, 'equals'],
  ['$ne', equatable, 'differs from'],
  ['$gt', ordered, 'above'],
  ['$gte', ordered, 'at least'],
  ['$lt', ordered, 'below'],
  ['$lte', ordered, 'at most'],
  ['$between', ordered, '[least, greatest]'],
  ['$notBetween', ordered, '[least, greatest]'],
  ['$in', scalar, 'one of [ … ]'],
  ['$notIn', scalar, 'none of [ … ]'],
  ['$like', text, 'with % and _'],
  ['$notLike', text, 'with % and _'],
  ['$iLike', text, 'with % and _, in any case'],
  ['$notILike', text, 'with % and _, in any case'],
  ['$startsWith', text, 'begins with'],
  ['$endsWith', text, 'ends with'],
  ['$substring', text, 'contains'],
  ['$is', 'all', 'null, true or false'],
  ['$contains', ['json', 'array'], 'contains'],
  ['$overlap', ['array'], 'has one of [ … ]'],
  ['$bbox', geometry, '[west, south, east, north]'],
  ['$intersects', geometry, 'GeoJSON or box'],
  ['$within', geometry, 'GeoJSON or box'],
  ['$dwithin', geometry, '{ point, distance } in metres'],
]

export const operatorsOf = (type: ColumnType): string[] =>
  operators.filter(([, types]) => types === 'all' || types.includes(type)).map(([name]) => name)

export const operatorWords: readonly Word[] = [
  ...operators.map(([label, , detail]) => ({ label, detail, type: 'keyword' })),
  ...logic.map((label) => ({ label, detail: 'logic', type: 'keyword' })),
]
