import { ident } from '../db/sql.ts'
import type { Attribute } from '../query/attribute.ts'
import { blame, type SelectOptions } from '../query/connection.ts'
import type { Plan } from '../query/plan.ts'
import type { Relation } from '../query/plan-sql.ts'
import { type AttributeDto, attributesOf, typeOf } from './attribute-dto.ts'
import { type ColumnFact, describeTable, type InspectOptions, readableName } from './introspect.ts'
import type { Dataset, Inspection, Place, Source } from './sources.ts'
import { answerInSql, explainInSql } from './sql-answer.ts'

export async function inspectTable(dataset: Dataset, place: Place, options: InspectOptions): Promise<Inspection> {
  const connection = await place()
  const { columns, bytes } = await describeTable(connection, dataset.source, options).catch(blame(connection))
  return { attributes: columns.map(toDto), bytes }
}

export async function openTable(dataset: Dataset, place: Place): Promise<Source> {
  const connection = await place()
  const { schema, name } = readableName(dataset.source, connection.schema)
  const from = ident(schema, name)
  const attributes = attributesOf(dataset)
  const key = dataset.attributes.filter(({ primaryKey }) => primaryKey).flatMap((dto) => attributes.get(dto.name) ?? [])
  /** Whether a part of it can be read is worth asking only when a part is wanted. */
  const relation = async (plan: Plan, options: SelectOptions): Promise<Relation> => {
    const isTable = plan.sample ? (await describeTable(connection, dataset.source, options)).isTable : false
    return { from, key, isTable }
  }
  return {
    inSql: { connection, relation: { from, key, isTable: false }, isOurs: true },
    rows: async (plan, shape, options) =>
      answerInSql(connection, await relation(plan, options), plan, shape, {
        ...options,
        ...boundOf(plan, key),
        isOurs: true,
      }).catch(blame(connection)),
    explain: async (plan, options) => explainInSql(connection, await relation(plan, options), plan, options),
  }
}

/** How many rows there can be: the limit, or one where the whole key is given. */
function boundOf({ where, limit }: Plan, key: readonly Attribute[]): { atMost?: number } {
  const isOneRow =
    where.kind === 'compare' && where.comparison === 'eq' && key.length === 1 && key[0]?.name === where.attribute.name
  if (isOneRow) return { atMost: 1 }
  return limit === undefined ? {} : { atMost: limit }
}

export function toDto({ geometry, ...fact }: ColumnFact): AttributeDto {
  const type = typeOf(fact.dbType)
  if (!geometry) return { ...fact, type }
  return { ...fact, type, geometryType: geometry.type, srid: geometry.srid, dimension: geometry.dimension }
}
