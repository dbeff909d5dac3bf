// Datasets of type sql: a tenant's SELECT, with `:name` markers for parameters.

import { sql } from '../../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { blame, type Connection } from '../../../query/execution/connection.ts'
import type { Relation } from '../../../query/execution/plan-sql.ts'
import { splitMarkers } from '../../../query/execution/sql-markers.ts'
import { relationsOf } from '../../databases/postgres/tenant-sql/tenant-sql.ts'
import { geometriesOf } from '../attribute-dto.ts'
import type { Dataset } from '../dataset-record.ts'
import type { DatasetType, ParameterValues, Source, SourceContext } from '../dataset-type.ts'
import { declarationHint, parameterisedSql, readParameters } from '../parameters.ts'
import { answerInSql, explainInSql, sqlAbilities } from '../queries/sql-answer.ts'
import { visibleRelation } from '../rules/visible-relation.ts'
import { checkKnownSrid } from '../srid-setting.ts'
import { toDto } from './table.ts'

export const sqlType: DatasetType = {
  parameters: ({ source }) => splitMarkers(source).names,
  async inspect({ source, metadata }, { connect }, options) {
    const connection = await connect()
    await connection.checkQuery(source, options.signal)
    await checkKnownSrid(connection, metadata, options).catch(blame(connection))
    const { names } = splitMarkers(source)
    const parameters = readParameters(metadata.parameters, names, undefined)
    const query = parameterisedSql(source, parameters, connection.parameterTypes)
    const columns = await connection
      .describeQuery(source, query, options)
      .catch(blame(connection))
      .catch((error) => {
        throw explainedFault(connection, error, declarationHint(metadata.parameters, names))
      })
    return { attributes: columns.map(toDto), bytes: null, rowEstimate: null }
  },
  open: openSql,
  periods: async (dataset, { connect }, options) =>
    (await connect()).periods?.(undefined, geometriesOf(dataset), options),
  async readsTable(source, { schema, name }, isPlatform) {
    // For SQL that can no longer be parsed, search its text for the name: a false positive is the safe side.
    const named = await relationsOf(source, { schema, isShared: isPlatform }).catch(() => undefined)
    return named?.some((one) => one.name === name && (one.schema ?? schema) === schema) ?? source.includes(name)
  },
}

/** The database's error on the author's SQL, with a suggested fix. */
function explainedFault({ queryHint }: Connection, error: unknown, typeHint: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_request' || error.faults.length > 0) return error
  const hint = queryHint?.(error.cause, typeHint) ?? ''
  return Object.assign(invalid('body/source', `${error.message.replace(/\.$/, '')}.${hint}`), { cause: error.cause })
}

/** Checked when it was stored, and again here, because the guard may have become stricter. */
async function openSql(
  dataset: Dataset,
  { connect, runRest }: SourceContext,
  inputs: ParameterValues,
): Promise<Source> {
  const connection = await connect()
  await connection.checkQuery(dataset.source)
  const { names } = splitMarkers(dataset.source)
  const parameters = readParameters(dataset.metadata.parameters, names, inputs)
  const query = parameterisedSql(dataset.source, parameters, connection.parameterTypes)
  const visible = await visibleRelation(connection, dataset, { from: sql`(\n${query}\n)`, isTable: false })
  const relation: Relation = { from: visible.from, isTable: false, key: [] }
  const there = { connection, subject: { attributes: visible.attributes }, runRest }
  return {
    ...sqlAbilities(there, relation, false),
    rows: (plan, shape, options) => answerInSql(there, relation, plan, shape, options).catch(blame(connection)),
    explain: (plan, options) => explainInSql(there, relation, plan, options),
  }
}
