// A table on another server as its overview sees it: the columns that are copied, and in which types.
import { hash } from 'node:crypto'
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { Fingerprint } from '../../../query/execution/introspection.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { layerOf } from '../source/dataset-layer.ts'
import { selectedColumn } from '../sql/tile-columns.ts'
import { stored } from '../sql/tile-sql.ts'
import { keyRank, rowRank } from '../thinning/rank-sql.ts'
import { countColumn, type OverviewDataset, rankColumn, sizeColumn, thinningRule } from './overview.ts'

/** A column of the copy, and its value on the other server. */
type CopiedColumn = { readonly name: string; readonly type: string; readonly value: Sql }

export type ExternalTable = {
  /** The dataset with the columns of the copy. */
  readonly dataset: OverviewDataset
  readonly geometry: Attribute
  readonly isPoint: boolean
  /** The rank of a row there. */
  readonly rank: Sql
  /** The geometry first, then the rank. */
  readonly columns: readonly CopiedColumn[]
  /** The key of the table is copied; otherwise the copy's rows are numbered. */
  readonly hasKey: boolean
  readonly key: string
  /** Changes when an older overview no longer fits. */
  readonly shape: string
}

/** A table that can have an overview, as its server describes it. */
export type DescribedTable = {
  readonly table: ExternalTable
  readonly source: string
  readonly connection: PostgresConnection
  readonly fingerprint: Fingerprint
}

/** The number of a row of the copy, where the table has no key of one column. */
export const rowColumn = 'svc_row'

/** Types that are copied as they are. Those of extensions need not exist here, so all others become the text that tiles show. */
const plainTypes = new Set(['boolean', 'smallint', 'integer', 'bigint', 'real', 'double precision'])

const taken = new Set([rowColumn, countColumn, sizeColumn, rankColumn])

/** Undefined if there can be no overview. `place` names the server and the user that reads there. */
export function externalTableOf(dataset: Dataset, place: string): ExternalTable | undefined {
  const { geometry: original, geometryType, attributes } = layerOf(dataset)
  if (dataset.attributes.some(({ name }) => taken.has(name))) return undefined
  const { geography: isGeography, ...planar } = original
  // Long values that tiles show only when they are asked for.
  const shown = dataset.attributes.filter(({ type }) => type !== 'geometry' && type !== 'binary')
  const keys = dataset.attributes.filter(({ primaryKey }) => primaryKey)
  const [key] = keys.length === 1 ? keys.filter((one) => shown.includes(one)) : []
  const values = shown.flatMap((dto): CopiedColumn[] => {
    const attribute = attributes.get(dto.name)
    if (!attribute) return []
    const type = plainTypes.has(dto.dbType) ? dto.dbType : 'text'
    return [{ name: dto.name, type, value: selectedColumn(dto, attribute, false).value }]
  })
  const copied = key ? values : [{ name: rowColumn, type: 'bigint', value: raw('') }, ...values]
  const rank = key ? keyRank(key.name) : rowRank
  const value = isGeography ? sql`${stored(original)}::geometry` : stored(original)
  return {
    dataset: {
      ...dataset,
      attributes: copied.map(({ name, type: dbType }) => ({
        name,
        dbType,
        type: 'string' as const,
        nullable: true,
        description: '',
        primaryKey: name === (key?.name ?? rowColumn),
      })),
    },
    geometry: planar,
    isPoint: geometryType === 'point',
    rank,
    columns: [
      { name: original.name, type: 'geometry', value: value },
      // Made there, where it is the same as in tiles that are made from the table.
      { name: rankColumn, type: 'integer', value: rank },
      ...values,
    ],
    hasKey: key !== undefined,
    key: key?.name ?? rowColumn,
    shape: shapeOf(dataset, original, place),
  }
}

function shapeOf({ attributes, source, type }: Dataset, geometry: Attribute, place: string): string {
  const columns = attributes.map(({ name, dbType, primaryKey }) => [name, dbType, primaryKey])
  return hash('sha1', JSON.stringify([thinningRule, geometry, columns, type, source, place]), 'base64url').slice(0, 12)
}

/** All rows that can be on a map. */
export const externalRows = ({ columns, geometry }: ExternalTable, from: Sql): Sql => {
  const values = columns.map(({ value }) => value)
  return sql`SELECT ${joinSql(values, ', ')} FROM ${from} AS q WHERE ${stored(geometry)} IS NOT NULL`
}
