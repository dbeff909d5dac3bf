/** Publishes tables as datasets, in batches so that progress can be shown, and creates tile sources for those with a geometry. */
import type { Client, DatabaseTable, PublicationResult } from '@graticule/client'
import { faultOf } from '../../components/error-note.tsx'

export interface TableOutcome {
  /** `schema.name` */
  table: string
  datasetId: string | null
  /** Why it was skipped, or why it has no tiles. */
  fault: string | null
}

export interface PublishOptions {
  databaseId: string
  tables: readonly DatabaseTable[]
  withTiles: boolean
  signal: AbortSignal
  onProgress(outcomes: readonly TableOutcome[]): void
}

const atOnce = 20

export const tableKey = ({ schema, name }: Pick<DatabaseTable, 'schema' | 'name'>): string => `${schema}.${name}`

export async function publishTables(client: Client, options: PublishOptions): Promise<TableOutcome[]> {
  const { databaseId, tables, signal, onProgress } = options
  const outcomes: TableOutcome[] = []
  for (let start = 0; start < tables.length && !signal.aborted; start += atOnce) {
    const part = tables.slice(start, start + atOnce)
    const names = part.map(({ source }) => source)
    const result = await client.databases.publish(databaseId, { tables: names }, { signal })
    for (const outcome of outcomesOf(result)) {
      const isDrawn = part.some((table) => tableKey(table) === outcome.table && table.geometryColumn !== null)
      outcomes.push(options.withTiles && isDrawn ? await withTiles(client, outcome) : outcome)
      onProgress([...outcomes])
    }
  }
  return outcomes
}

const outcomesOf = ({ published, skipped }: PublicationResult): TableOutcome[] => [
  ...published.map(({ table, datasetId }) => ({ table, datasetId, fault: null })),
  ...skipped.map(({ table, message, datasetId = null }) => ({ table, datasetId, fault: message })),
]

async function withTiles(client: Client, outcome: TableOutcome): Promise<TableOutcome> {
  if (!outcome.datasetId || outcome.fault) return outcome
  try {
    await client.tileSources.create({ type: 'dataset', source: outcome.datasetId })
    return outcome
  } catch (error) {
    return { ...outcome, fault: `Published, but not served as tiles: ${faultOf(error).message}` }
  }
}
