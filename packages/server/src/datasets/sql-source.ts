import { sql } from '../db/sql.ts'
import { blame, type Connection, type SelectOptions } from '../query/connection.ts'
import type { Relation } from '../query/plan-sql.ts'
import { checkReadable, describeQuery } from './introspect.ts'
import { parameterisedSql, readParameters, splitMarkers } from './parameters.ts'
import type { Dataset, Given, Inspection, Place, Source } from './sources.ts'
import { answerInSql, explainInSql } from './sql-answer.ts'
import { toDto } from './table-source.ts'
import { checkTenantSql, relationsOf, type SqlPlace } from './tenant-sql.ts'

export async function inspectSql(dataset: Dataset, place: Place, options: SelectOptions): Promise<Inspection> {
  const connection = await place()
  const relations = await relationsOf(dataset.source, sqlPlace(connection))
  await checkReadable(connection, relations, options)
  const { names } = splitMarkers(dataset.source)
  const parameters = readParameters(dataset.metadata.parameters, names, undefined)
  const columns = await describeQuery(connection, parameterisedSql(dataset.source, parameters), options).catch(
    blame(connection),
  )
  return { attributes: columns.map(toDto), bytes: null }
}

const sqlPlace = ({ schema, catalog }: Connection): SqlPlace => ({ schema, isShared: catalog !== undefined })

/** The text was checked when it was stored; it is checked again, because what may pass can become less. */
export async function openSql(dataset: Dataset, place: Place, given: Given): Promise<Source> {
  const connection = await place()
  await checkTenantSql(dataset.source, sqlPlace(connection))
  const { names } = splitMarkers(dataset.source)
  const parameters = readParameters(dataset.metadata.parameters, names, given)
  const query = parameterisedSql(dataset.source, parameters)
  const relation: Relation = { from: sql`(\n${query}\n)`, isTable: false, key: [] }
  return {
    inSql: { connection, relation, isOurs: false },
    rows: (plan, shape, options) => answerInSql(connection, relation, plan, shape, options).catch(blame(connection)),
    explain: (plan, options) => explainInSql(connection, relation, plan, options),
  }
}
