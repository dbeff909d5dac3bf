// Dataset types without SQL: the source sends all its rows, and plans run on them in memory.

import { type Batches, queryTimeout } from '../../../kernel/db/guarded.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import type { AttributeDto } from '../attribute-dto.ts'
import type { DatasetDraft } from '../dataset-record.ts'
import type { DatasetType, ParameterValues, SourceContext } from '../dataset-type.ts'
import { readParameters } from '../parameters.ts'
import { rowMaskOf } from '../rules/row-mask.ts'
import type { MemoryOptions } from './memory-options.ts'
import type { InspectJob, QueryJob, SourceAnswer } from './memory-source-job.ts'

export type ReadLimits = { timeoutMs: number; signal?: AbortSignal }

/** Requests all rows of a source. `given` is undefined on inspection, when there is no caller. */
export type ReadAllRows = (
  options: MemoryOptions,
  dataset: DatasetDraft,
  inputs: ParameterValues | undefined,
  limits: ReadLimits,
) => Promise<SourceAnswer>

/** Inspects and opens types that are asked for rows. */
export const memoryType = (ask: ReadAllRows): Pick<DatasetType, 'inspect' | 'open'> => ({
  async inspect(dataset, { memory }, limits) {
    const rest = remaining(limits)
    const answer = await ask(memory, dataset, undefined, limits).catch(explain)
    const attributes = await inspectRows(memory, dataset, { answer }, rest()).catch(explain)
    return { attributes, bytes: null, rowEstimate: null }
  },
  open: async (dataset, { memory, connect }, inputs) => ({
    async rows(plan, { geometry, srid }, limits) {
      const rest = remaining(limits)
      const definition = srid === 4326 ? undefined : await definitionOf(srid, connect, limits)
      const answer = await ask(memory, dataset, inputs, rest()).catch((error) => {
        throw rest().timeoutMs === 1 && isFailed(error) ? queryTimeout(error) : error
      })
      const mask = rowMaskOf(dataset)
      const shape = { geometry, ...(definition && { definition }) }
      const job = { answer, plan, shape, ...(mask && { mask }) }
      return { columns: plan.columns, ...(await queryRows(memory, dataset, job, rest())) }
    },
    explain: async () => ({ source: dataset.type, evaluation: 'in memory' }),
  }),
})

/** One time limit shared by consecutive steps. */
function remaining(limits: ReadLimits): () => ReadLimits {
  const end = performance.now() + limits.timeoutMs
  return () => ({ ...limits, timeoutMs: Math.max(1, Math.ceil(end - performance.now())) })
}

export async function queryRows(
  { threads }: Pick<MemoryOptions, 'threads'>,
  { applicationId }: Pick<DatasetDraft, 'applicationId'>,
  job: QueryJob,
  limits: ReadLimits,
): Promise<{ batches: Batches }> {
  const { isLight, queryAnswer } = await import('./memory-source-job.ts')
  if (isLight(job)) return { batches: [...queryAnswer(job)] }
  const { batches, isWhole } = await threads.run(job, { applicationId, ...limits })
  return { batches: (isWhole ? await Array.fromAsync(batches) : batches) as Batches }
}

async function inspectRows(
  { threads }: MemoryOptions,
  { applicationId }: DatasetDraft,
  job: InspectJob,
  limits: ReadLimits,
): Promise<AttributeDto[]> {
  const { inspectAnswer, isLight } = await import('./memory-source-job.ts')
  if (isLight(job)) return inspectAnswer(job)
  const { batches } = await threads.run(job, { applicationId, ...limits })
  for await (const attributes of batches) return attributes as AttributeDto[]
  return []
}

/** The PROJ definition of a reference system, from the dataset's database. */
async function definitionOf(srid: number, connect: SourceContext['connect'], limits: ReadLimits): Promise<string> {
  const connection = await connect()
  const definition = await connection.projection(srid, limits)
  if (!definition)
    throw invalid('query/srid', `must be a reference system that the database knows, such as 3857, not ${srid}`)
  return definition
}

const isFailed = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'upstream_failed'

/** A source that fails on inspection is the author's mistake: 400. */
function explain(error: unknown): never {
  if (!(error instanceof ApiError) || error.faults.length > 0) throw error
  const isTold = error.code === 'upstream_failed' || error.code === 'invalid_request'
  throw isTold ? invalid(pathOf(error), error.message) : error
}

const pathOf = ({ message }: ApiError): string =>
  message.startsWith('The header ') ? 'body/secrets/headers' : 'body/source'

/** The values of the source's parameters, as text. */
export function parameterValues(
  dataset: DatasetDraft,
  names: readonly string[],
  inputs: ParameterValues | undefined,
): Record<string, string | null> {
  const values = readParameters(dataset.metadata.parameters, names, inputs)
  return Object.fromEntries([...values].map(([name, { value }]) => [name, value]))
}
