// Rows by a filter: changed or deleted all at once, if they are as many as the caller expects.
import Type from 'typebox'
import { alsoAt, type Scope } from '../../api/access/acl.ts'
import { freeObject } from '../../api/http/input/bounded-schemas.ts'
import type { QueryTree } from '../../api/http/input/query-string.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { rowBudget } from '../../kernel/json/json-budget.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'
import { column } from '../../query/execution/postgres-sql.ts'
import { parseFilterIn } from '../../query/filter/filter-language.ts'
import { filterSql } from '../../query/filter/filter-sql.ts'
import { dataset as datasetResource } from '../datasets/dataset.ts'
import {
  filterLanguageParameter,
  filterParameter,
  requestedFilter,
  timeoutOf,
} from '../datasets/queries/query-parameters.ts'
import { beginEdit, demandDataset, type Edit, type EditContext, operation, writeInTransaction } from './editing.ts'
import { readOneRow } from './input/input-rows.ts'
import { hasPatch, isMergePatch } from './input/merge-json.ts'
import { repairParameter } from './insert-operation.ts'
import { countRows, type EditTransaction, writeRows } from './writing/edit-transaction.ts'
import { prepareChanges } from './writing/row-writes.ts'
import { demandAllowed, mayBecome, refusedByRule, seen, withSetValues } from './writing/ruled-write.ts'
import { deleteSql, updateSql, withAllowed } from './writing/write-rows.ts'
import type { RowStatement } from './writing/written-rows.ts'

const selection = {
  filter: filterParameter,
  'filter-lang': filterLanguageParameter,
  expect: Type.Integer({
    minimum: 0,
    description: 'How many rows the filter matches. If it matches another number: 409, and nothing is changed',
  }),
}

const common = {
  path: `${datasetResource.path}/{id}/rows`,
  access: { class: 'datasets', level: 'write' },
  success: {
    status: 200,
    description: 'How many rows were written',
    schema: Type.Object({ count: Type.Integer() }),
  },
  failures: [409, 413, 429, 502, 504],
} as const

const needsExecute = 'The key needs execute on the dataset, too.'

const patch = operation({
  ...common,
  id: 'datasets.changeRows',
  method: 'PATCH',
  summary: 'Change the rows that a filter matches',
  description: `All of them get the values that are sent, in JSON columns too. ${needsExecute}`,
  query: Type.Object({ ...selection, repair: repairParameter }),
  body: freeObject('bodyBytes', { examples: [{ name: 'Oslo' }] }),
  readsText: ['application/geo+json'],
  budget: rowBudget,
  beforeBody: ({ services, scope }, params) => demandDataset({ services, scope: queriedScope(scope) }, params),
  async handle(context, { params: { id }, query }) {
    const { repair = false, expect } = query
    const edit = await beginQueriedEdit(context, id)
    const condition = conditionOf(edit, query, context.tree)
    const input = withSetValues(readOneRow(context.request.body, edit.table), edit.dataset, 'change')
    const key = input.cells.find(({ name }) => edit.table.key.some((one) => one.name === name))
    if (key) throw invalid(key.path, 'is part of the key, which cannot be changed')
    const changes = await prepareChanges(context, edit, input, { repair })
    if (isMergePatch(context.request) && hasPatch(changes)) throw unmerged()
    const columns = [...changes.cells.keys()].map(({ name }) => name)
    const statement = (returning: Sql): Sql => updateSql(edit.table, changes, condition, { repair, returning })
    return writeMatching(context, edit, { operation: 'update', condition, expect, statement, columns })
  },
})

const unmerged = (): ApiError =>
  new ApiError(
    'unsupported_media_type',
    'Objects are merged into JSON columns of one row, by its key. Send application/json to replace their values in all rows.',
  )

const remove = operation({
  ...common,
  id: 'datasets.deleteRows',
  method: 'DELETE',
  summary: 'Delete the rows that a filter matches',
  description: `\`filter={}\` matches all. ${needsExecute}`,
  query: Type.Object(selection),
  async handle(context, { params: { id }, query }) {
    const edit = await beginQueriedEdit(context, id)
    const condition = conditionOf(edit, query, context.tree)
    const statement = (returning: Sql): Sql => deleteSql(edit.table, condition, returning)
    return writeMatching(context, edit, {
      operation: 'delete',
      condition,
      expect: query.expect,
      statement,
      columns: [],
    })
  },
})

const queriedScope = (scope: Scope): Scope => alsoAt(scope, 'datasets', 'execute')

/** How many rows match tells something of them, so the key must be allowed to query. */
const beginQueriedEdit = ({ services, scope }: EditContext, id: string): Promise<Edit> =>
  beginEdit(services, queriedScope(scope), id)

type Selection = { readonly filter?: unknown; readonly 'filter-lang'?: string | undefined }

function conditionOf(edit: Edit, selected: Selection, tree: QueryTree): Sql {
  const { where, filterLanguage } = requestedFilter(selected, tree)
  if (where === undefined) throw invalid('query/filter', 'is required; filter={} matches all rows')
  return seen(edit, filterSql(parseFilterIn(filterLanguage, where, edit.attributes, { path: 'query/filter' }), column))
}

type Writing = RowStatement & { readonly expect: number; readonly columns: readonly string[] }

/** Counts first, as a query of the application, whose limits hold for a filter that takes long. */
async function writeMatching(context: EditContext, edit: Edit, writing: Writing) {
  const { condition, expect, columns } = writing
  const most = limits.changedRows.value
  if (expect > most)
    throw overLimit('changedRows', most, `A request may change at most ${most} rows. Use a narrower filter.`)
  const { table } = edit
  const connection = await table.connect()
  const options = { timeoutMs: timeoutOf(undefined), signal: context.signal, atMost: 1, isTrusted: true }
  const { batches } = await connection.select(sql`SELECT count(*) FROM ${table.from} AS q WHERE ${condition}`, options)
  const [matches] = (await Array.fromAsync(batches)).flat(2)
  demandCount(Number(matches), expect)
  const { count } = await writeInTransaction(context, edit, async (tx) => {
    const count = await writeAllowed(tx, edit, writing, context.signal)
    demandCount(count, expect)
    return { count, columns }
  })
  return { body: { count } }
}

/** Writes the rows, and answers how many they are. */
async function writeAllowed(tx: EditTransaction, edit: Edit, writing: Writing, signal: AbortSignal): Promise<number> {
  const { operation, condition, columns } = writing
  const level = operation === 'update' ? 'change' : 'delete'
  await demandAllowed(tx, edit, { level, condition, names: columns }, signal)
  const isAllowed = operation === 'update' ? mayBecome(edit, level, columns) : undefined
  if (!isAllowed) return countRows(tx, writing, signal)
  const rows = await writeRows(tx, writing, withAllowed(raw('1'), isAllowed), signal)
  if (rows.some(({ allowed }) => allowed !== true)) throw refusedByRule(level)
  return rows.length
}

function demandCount(count: number, expected: number): void {
  if (count === expected) return
  const rows = count === 1 ? '1 row' : `${count} rows`
  const detail = `The filter matches ${rows}, and ${expected} were expected. Nothing was changed.`
  throw new ApiError('conflict', detail, { extensions: { found: count, expected } })
}

export const filterOperations = [patch, remove]
