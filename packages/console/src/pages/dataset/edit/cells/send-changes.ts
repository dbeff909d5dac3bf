/** Sends changes of cells, and tells which were made, which somebody else has come before, and which the server refused. */
import { ApiError, type Client, type Dataset, type JsonObject } from '@graticule/client'
import { faultOf } from '../../../../components/error-note.tsx'
import { type DatasetAttribute, keyOf } from '../../dataset.ts'
import { type Row, whereIds } from '../../table/selection.ts'
import { type CellChange, type ChangeRequest, filterOf, requestOf, requestsOf, rowRequests } from './cell-change.ts'
import { isSameValue } from './inline-cell.ts'

/** What somebody else has changed meanwhile; without `theirs` they have deleted the row. */
export interface CellConflict {
  change: CellChange
  theirs?: CellChange['before']
}

export interface CellFailure {
  change: CellChange
  error: unknown
}

export interface SentChanges {
  saved: CellChange[]
  conflicts: CellConflict[]
  failures: CellFailure[]
}

/** An application may write four times at once. */
const sentAtOnce = 3

export async function sendChanges(
  client: Client,
  dataset: Dataset,
  changes: readonly CellChange[],
): Promise<SentChanges> {
  const sent: SentChanges = { saved: [], conflicts: [], failures: [] }
  const waiting = requestsOf(changes, keyOf(dataset))
  const work = async () => {
    for (let request = waiting.shift(); request; request = waiting.shift())
      await sendRequest(client, dataset, request, sent)
  }
  await Promise.all(Array.from({ length: sentAtOnce }, work))
  return sent
}

async function sendRequest(client: Client, dataset: Dataset, request: ChangeRequest, sent: SentChanges): Promise<void> {
  const { changes, ids, after } = request
  const filter = filterOf(request, dataset.attributes)
  try {
    await client.datasets.changeRows(dataset.id, after, { filter, expect: ids.length })
    sent.saved.push(...changes)
  } catch (error) {
    // One row that somebody else has changed must not hold up the others.
    if (ids.length > 1) for (const row of rowRequests(request)) await sendRequest(client, dataset, row, sent)
    else await explain(client, dataset, request, error, sent)
  }
}

/** A row that is not as it was is a conflict; anything else the server's refusal. */
async function explain(
  client: Client,
  dataset: Dataset,
  { changes }: ChangeRequest,
  error: unknown,
  sent: SentChanges,
): Promise<void> {
  const conflicts =
    error instanceof ApiError && error.status === 409 ? await findConflicts(client, dataset, changes) : []
  if (conflicts.length > 0) sent.conflicts.push(...conflicts)
  else sent.failures.push(...changes.map((change) => ({ change, error: errorAt(error, change) })))
}

async function findConflicts(
  client: Client,
  dataset: Dataset,
  changes: readonly CellChange[],
): Promise<CellConflict[]> {
  const { ids, before } = requestOf(changes)
  const row = (await readCells(client, dataset, ids, Object.keys(before)))[0]
  if (!row) return changes.map((change) => ({ change }))
  const theirs = (change: CellChange) => row[change.column] ?? null
  if (changes.every((change) => isSameValue(theirs(change), change.before))) return []
  return changes.map((change) => ({ change, theirs: theirs(change) }))
}

/** The rows with their keys and these columns, as the table has them. */
export function readCells(
  client: Client,
  dataset: Dataset,
  ids: readonly CellChange['id'][],
  columns: readonly string[],
): Promise<Row[]> {
  const key: readonly DatasetAttribute[] = keyOf(dataset)
  const attributes = [...new Set([...key.map(({ name }) => name), ...columns])]
  const where: JsonObject = whereIds(ids, key)
  return client.datasets.query<Row>(dataset.id, { attributes, where, limit: ids.length })
}

/** The server's words for this column, where it has some. */
function errorAt(error: unknown, { column }: CellChange): unknown {
  const field = faultOf(error).fields.find(({ path }) => path.startsWith(`body/${column}`))
  return field ? new Error(`“${column}” ${field.message}.`) : error
}
