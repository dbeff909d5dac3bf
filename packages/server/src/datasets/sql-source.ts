import { sql } from '../db/sql.ts'
import { ApiError, invalid } from '../errors.ts'
import { blame, type Connection } from '../query/connection.ts'
import type { Relation } from '../query/plan-sql.ts'
import { checkReadable, describeQuery, type InspectOptions } from './introspect.ts'
import { declarationHint, parameterisedSql, readParameters, splitMarkers } from './parameters.ts'
import type { Dataset, Given, Inspection, Place, Source } from './sources.ts'
import { answerInSql, explainInSql } from './sql-answer.ts'
import { toDto } from './table-source.ts'
import { checkTenantSql, relationsOf, type SqlPlace } from './tenant-sql.ts'

export async function inspectSql(dataset: Dataset, place: Place, options: InspectOptions): Promise<Inspection> {
  const connection = await place()
  const relations = await relationsOf(dataset.source, sqlPlace(connection))
  await checkReadable(connection, relations, options)
  const { names } = splitMarkers(dataset.source)
  const parameters = readParameters(dataset.metadata.parameters, names, undefined)
  const columns = await describeQuery(connection, parameterisedSql(dataset.source, parameters), options)
    .catch(blame(connection))
    .catch((error) => {
      throw explainedFault(error, declarationHint(dataset.metadata.parameters, names))
    })
  return { attributes: columns.map(toDto), bytes: null }
}

/** No such function or operator for these types, or a type that does not fit: a parameter that is text may be the reason. */
const typeStates = new Set(['42883', '42804', '42725', '42846'])
const unknownColumn = '42703'

/** What the database says of the author's SQL, with what would mend it. */
function explainedFault(error: unknown, hint: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_request' || error.faults.length > 0) return error
  const { code, hint: ownHint } = (error.cause ?? {}) as { code?: string; hint?: unknown }
  const isNear = code === unknownColumn && typeof ownHint === 'string' && ownHint.startsWith('Perhaps you meant')
  const help = typeStates.has(code ?? '') ? hint : isNear ? ` ${ownHint}` : ''
  return Object.assign(invalid('body/source', `${error.message.replace(/\.$/, '')}.${help}`), { cause: error.cause })
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
