// Datasets of type table: a table or view of a database, named by `source`.
import { isDeepStrictEqual } from 'node:util'
import { guardedBatchSize } from '../../../kernel/db/guarded.ts'
import { blame, type Connection } from '../../../query/execution/connection.ts'
import type { ColumnFact } from '../../../query/execution/introspection.ts'
import type { Relation } from '../../../query/execution/plan-sql.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { tableName } from '../../databases/postgres/introspect.ts'
import { type AttributeDto, attributesOf, geometriesOf } from '../attribute-dto.ts'
import type { Dataset } from '../dataset-record.ts'
import type { DatasetType, Source, SourceContext } from '../dataset-type.ts'
import type { RunRest } from '../queries/remaining-plan.ts'
import { answerInSql, compileInSql, explainInSql, sqlAbilities } from '../queries/sql-answer.ts'
import { type VisibleRelation, visibleRelation } from '../rules/visible-relation.ts'
import { checkKnownSrid } from '../srid-setting.ts'
import { withDemandedColumns } from './demand-columns.ts'

export const tableType: DatasetType = {
  parameters: () => [],
  async inspect({ source, metadata }, { connect }, options) {
    const connection = await connect()
    await checkKnownSrid(connection, metadata, options).catch(blame(connection))
    const described = await connection.describeTable(source, options).catch(blame(connection))
    const { columns, bytes, rowEstimate } = described
    return { attributes: columns.map(toDto), bytes, rowEstimate }
  },
  open: openTable,
  async estimate(dataset, { connect }, options) {
    const [geometry] = geometriesOf(dataset)
    return (await connect()).estimate(dataset.source, geometry, options)
  },
  periods: async (dataset, { connect }, options) =>
    (await connect()).periods?.(dataset.source, geometriesOf(dataset), options),
  columns: async ({ source }, { connect }, options) => (await connect()).columnNames?.(source, options),
  tableOf: tableName,
  readsTable: async (source, table) => isDeepStrictEqual(tableName(source, table.schema), table),
}

type OpenedTable = { readonly connection: Connection; readonly source: Source }

/** Opening a table takes a tenth of the time of a request for one row, and gives the same for the same record. */
const opened = new WeakMap<Dataset, OpenedTable>()

async function openTable(dataset: Dataset, { connect, runRest }: SourceContext): Promise<Source> {
  const connection = await connect()
  const former = opened.get(dataset)
  if (former?.connection === connection) return former.source
  const demanding = withDemandedColumns(connection, dataset)
  const visible = await visibleRelation(demanding, dataset, { from: demanding.tableSql(dataset.source), isTable: true })
  const source = tableSource(dataset, demanding, visible, runRest)
  opened.set(dataset, { connection, source })
  return source
}

function tableSource(
  dataset: Dataset,
  connection: Connection,
  { from, isTable: mayBeTable, attributes: read }: VisibleRelation,
  runRest: RunRest,
): Source {
  const table = mayBeTable ? { table: dataset.source } : {}
  const there = { connection, subject: { ...table, attributes: read }, runRest }
  const key = wholeKey(dataset)
  /** Asks whether TABLESAMPLE works only when a sample is requested. */
  const relation = async (plan: Plan, options: SelectOptions): Promise<Relation> => {
    const isTable =
      plan.sample && mayBeTable ? (await connection.describeTable(dataset.source, options)).isTable : false
    return { from, key, isTable }
  }
  return {
    ...sqlAbilities(there, { from, key, isTable: false }, true),
    rows: async (plan, shape, options) =>
      answerInSql(there, await relation(plan, options), plan, shape, {
        ...options,
        ...boundOf(plan, key),
        isTrusted: true,
      }).catch(blame(connection)),
    async compileRow(plan, shape, options) {
      if (boundOf(plan, key).reads !== 'row' || plan.where.kind !== 'compare') return undefined
      return compileInSql(there, { from, key, isTable: false }, plan, shape, plan.where.value, options)
    },
    explain: async (plan, options) =>
      explainInSql(there, await relation(plan, options), plan, {
        ...options,
        isTrusted: true,
        ...explainedAs(boundOf(plan, key)),
      }),
  }
}

/** The primary key, if rules show the caller all of it in every row. */
function wholeKey(dataset: Dataset): readonly Attribute[] {
  const attributes = attributesOf(dataset)
  const names = dataset.attributes.flatMap(({ name, primaryKey }) => (primaryKey ? [name] : []))
  const isShown = names.every((name) => !dataset.narrowing?.masks.has(name))
  return isShown ? names.flatMap((name) => attributes.get(name) ?? []) : []
}

type Bound = Pick<SelectOptions, 'atMost' | 'reads'>

/** An upper bound of the rows: the limit, or one if the whole key is given. */
function boundOf({ where, limit, order, group, distinct, sample }: Plan, key: readonly Attribute[]): Bound {
  const isOneRow =
    where.kind === 'compare' && where.comparison === 'eq' && key.length === 1 && key[0]?.name === where.attribute.name
  if (isOneRow) return { atMost: 1, reads: 'row' }
  if (limit === undefined) return {}
  const isInKeyOrder = key.length > 0 && order.length === 0 && !group && distinct.length === 0 && !sample
  return { atMost: limit, ...(isInKeyOrder && { reads: 'page' }) }
}

/** EXPLAIN answers one row, and takes the way of its statement, so that it shows the same plan. */
const explainedAs = ({ atMost, reads }: Bound): Bound =>
  reads && Number(atMost) <= guardedBatchSize ? { atMost: 1, reads: 'page' } : {}

export function toDto({ geometry, ...fact }: ColumnFact): AttributeDto {
  if (!geometry) return fact
  const { type: geometryType, ...rest } = geometry
  return { ...fact, geometryType, ...rest }
}
