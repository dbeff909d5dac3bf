import { inOneBatch, queryTimeout } from '../db/guarded.ts'
import { sql } from '../db/sql.ts'
import { ApiError, invalid } from '../errors.ts'
import type { AttributeDto } from './attribute-dto.ts'
import type { InspectJob, QueryJob, SourceAnswer } from './memory-source-job.ts'
import type { MemoryThreads } from './memory-source-threads.ts'
import { readParameters } from './parameters.ts'
import { invokeLambda, type LambdaOptions } from './sources/lambda.ts'
import { allowsFunction, type FunctionList, refusedFunction } from './sources/lambda-functions.ts'
import { type Fetcher, fetchRest } from './sources/rest.ts'
import type { RestCache } from './sources/rest-cache.ts'
import { checkRestSettings, restSettings } from './sources/rest-settings.ts'
import { checkRestTemplate, restMarkers } from './sources/rest-template.ts'
import type { Answered, Dataset, Given, Kind, Place } from './sources.ts'

export type MemoryOptions = {
  egress: Fetcher
  cache: RestCache
  /** Absent: this installation calls no functions. */
  lambda: (Pick<LambdaOptions, 'endpoint' | 'region' | 'credentials'> & { functions: FunctionList }) | undefined
  /** Opens a dataset's secret headers. */
  openHeaders(dataset: Dataset): Record<string, string>
  threads: MemoryThreads
}

type Limits = { timeoutMs: number; signal?: AbortSignal }

/** Sources without SQL answer all they have; the plan is then carried out on the rows, up to a stated number. */
export function memoryKind(options: MemoryOptions, type: 'rest' | 'lambda'): Kind {
  const ask = type === 'rest' ? askRest : askLambda
  return {
    async inspect(dataset, _place, limits) {
      if (type === 'rest') {
        checkRestTemplate(dataset.source)
        checkRestSettings(dataset.metadata.rest)
      }
      const rest = remaining(limits)
      const answer = await ask(options, dataset, undefined, limits).catch(explain)
      return { attributes: await inspectRows(options, dataset, { answer }, rest()).catch(explain), bytes: null }
    },
    async open(dataset, place, given) {
      return {
        async rows(plan, { geometry, srid }, limits) {
          const rest = remaining(limits)
          const definition = srid === 4326 ? undefined : await definitionOf(srid, place, limits)
          const answer = await ask(options, dataset, given, rest()).catch((error) => {
            throw rest().timeoutMs === 1 && isFailed(error) ? queryTimeout(error) : error
          })
          const job = { answer, plan, shape: { geometry, ...(definition && { definition }) } }
          return { columns: plan.columns, ...(await queryRows(options, dataset, job, rest())) }
        },
        explain: async () => ({ source: type, evaluation: 'in memory' }),
      }
    },
  }
}

/** One time limit for all that is done one after the other. */
function remaining(limits: Limits): () => Limits {
  const end = performance.now() + limits.timeoutMs
  return () => ({ ...limits, timeoutMs: Math.max(1, Math.ceil(end - performance.now())) })
}

type Batches = Pick<Answered, 'batches' | 'isWhole'>

async function queryRows(
  { threads }: MemoryOptions,
  { applicationId }: Dataset,
  job: QueryJob,
  limits: Limits,
): Promise<Batches> {
  const { isLight, queryAnswer } = await import('./memory-source-job.ts')
  if (!isLight(job)) return (await threads.run(job, { applicationId, ...limits })) as Batches
  return { batches: inOneBatch([...queryAnswer(job)].flat()), isWhole: true }
}

async function inspectRows(
  { threads }: MemoryOptions,
  { applicationId }: Dataset,
  job: InspectJob,
  limits: Limits,
): Promise<AttributeDto[]> {
  const { inspectAnswer, isLight } = await import('./memory-source-job.ts')
  if (isLight(job)) return inspectAnswer(job)
  const { batches } = await threads.run(job, { applicationId, ...limits })
  for await (const attributes of batches) return attributes as AttributeDto[]
  return []
}

/** How a reference system is computed, as the dataset's database has it. */
async function definitionOf(srid: number, place: Place, limits: Limits): Promise<string> {
  const connection = await place()
  const statement = sql`SELECT proj4text FROM spatial_ref_sys WHERE srid = ${srid}::int4`
  const { batches } = await connection.select(statement, { ...limits, atMost: 1, isOurs: true })
  let definition: string | null | undefined
  for await (const batch of batches) definition ??= batch[0]?.[0]
  if (!definition?.trim())
    throw invalid('query/srid', `must be a reference system that the database knows, such as 3857, not ${srid}`)
  return definition
}

const isFailed = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'upstream_failed'

/** A source that cannot be asked when it is stored is its author's mistake. */
function explain(error: unknown): never {
  if (!(error instanceof ApiError) || error.faults.length > 0) throw error
  const isTold = error.code === 'upstream_failed' || error.code === 'invalid_request'
  throw isTold ? invalid(pathOf(error), error.message) : error
}

const pathOf = ({ message }: ApiError): string =>
  message.startsWith('The header ') ? 'body/secrets/headers' : 'body/source'

async function askRest(
  options: MemoryOptions,
  dataset: Dataset,
  given: Given | undefined,
  limits: Limits,
): Promise<SourceAnswer> {
  const { body, contentType } = await fetchRest(
    {
      applicationId: dataset.applicationId,
      url: dataset.source,
      parameters: parametersOf(dataset, restMarkers(dataset.source), given),
      headers: options.openHeaders(dataset),
    },
    { egress: options.egress, cache: options.cache, ...limits },
  )
  return { type: 'rest', body, contentType, ...restSettings(dataset.metadata) }
}

async function askLambda(
  { lambda }: MemoryOptions,
  dataset: Dataset,
  given: Given | undefined,
  limits: Limits,
): Promise<SourceAnswer> {
  if (!lambda) throw invalid('body/type', 'must not be lambda: the operator of this server has set no AWS credentials')
  if (!allowsFunction(lambda.functions, dataset.applicationId, dataset.source)) throw refusedFunction()
  const declared = Array.isArray(dataset.metadata.parameters) ? dataset.metadata.parameters : []
  const names = declared.map((item) => String((item as { name?: unknown })?.name))
  const payload = { parameters: parametersOf(dataset, names, given) }
  const body = await invokeLambda({ functionName: dataset.source, payload }, { ...lambda, ...limits })
  return { type: 'lambda', body }
}

function parametersOf(
  dataset: Dataset,
  names: readonly string[],
  given: Given | undefined,
): Record<string, string | null> {
  const values = readParameters(dataset.metadata.parameters, names, given)
  return Object.fromEntries([...values].map(([name, { value }]) => [name, value]))
}
