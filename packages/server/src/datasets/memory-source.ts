import { ApiError, invalid } from '../errors.ts'
import { runPlan } from '../query/plan-rows.ts'
import { readParameters } from './parameters.ts'
import { inferAttributes } from './sources/infer-attributes.ts'
import type { SourceRow } from './sources/json-rows.ts'
import { invokeLambda, type LambdaOptions } from './sources/lambda.ts'
import { type Fetcher, fetchRest } from './sources/rest.ts'
import type { RestCache } from './sources/rest-cache.ts'
import { checkRestTemplate, restMarkers } from './sources/rest-template.ts'
import type { Dataset, Given, Kind } from './sources.ts'

export type MemoryOptions = {
  egress: Fetcher
  cache: RestCache
  /** Absent: this installation calls no functions. */
  lambda: Pick<LambdaOptions, 'endpoint' | 'region' | 'credentials'> | undefined
  /** Opens a dataset's secret headers. */
  openHeaders(dataset: Dataset): Record<string, string>
}

type Limits = { timeoutMs: number; signal?: AbortSignal }

/** Sources without SQL answer all they have; the plan is then carried out on the rows, up to a stated number. */
export function memoryKind(options: MemoryOptions, type: 'rest' | 'lambda'): Kind {
  const fetchRows = type === 'rest' ? restRows : lambdaRows
  return {
    async inspect(dataset, _place, limits) {
      if (type === 'rest') checkRestTemplate(dataset.source)
      const rows = await fetchRows(options, dataset, undefined, limits).catch(explain)
      return { attributes: inferAttributes(rows), bytes: null }
    },
    async open(dataset, _place, given) {
      return {
        async rows(plan, shape, limits) {
          if (shape.srid !== 4326) throw invalid('srid', 'This kind of dataset answers in 4326 only.')
          const rows = await fetchRows(options, dataset, given, limits)
          const { cells } = runPlan(plan, rows, { geometry: shape.geometry })
          return { columns: plan.columns, batches: one(cells), isWhole: true }
        },
        explain: async () => ({ source: type, evaluation: 'in memory' }),
      }
    },
  }
}

async function* one<T>(value: T): AsyncGenerator<T> {
  yield value
}

/** A source that cannot be asked when it is stored is its author's mistake. */
function explain(error: unknown): never {
  if (error instanceof ApiError && error.code === 'upstream_failed') throw invalid('body/source', error.message)
  throw error
}

function restRows(
  options: MemoryOptions,
  dataset: Dataset,
  given: Given | undefined,
  limits: Limits,
): Promise<SourceRow[]> {
  const { rest } = dataset.metadata as { rest?: { path?: unknown } }
  return fetchRest(
    {
      applicationId: dataset.applicationId,
      url: dataset.source,
      parameters: parametersOf(dataset, restMarkers(dataset.source), given),
      headers: options.openHeaders(dataset),
      ...(typeof rest?.path === 'string' && { path: rest.path }),
    },
    { egress: options.egress, cache: options.cache, ...limits },
  )
}

function lambdaRows(
  { lambda }: MemoryOptions,
  dataset: Dataset,
  given: Given | undefined,
  limits: Limits,
): Promise<SourceRow[]> {
  if (!lambda) throw invalid('body/type', 'This installation calls no functions: its AWS settings are not set.')
  const declared = Array.isArray(dataset.metadata.parameters) ? dataset.metadata.parameters : []
  const names = declared.map((item) => String((item as { name?: unknown })?.name))
  const payload = { parameters: parametersOf(dataset, names, given) }
  return invokeLambda({ functionName: dataset.source, payload }, { ...lambda, ...limits })
}

function parametersOf(
  dataset: Dataset,
  names: readonly string[],
  given: Given | undefined,
): Record<string, string | null> {
  const values = readParameters(dataset.metadata.parameters, names, given)
  return Object.fromEntries([...values].map(([name, { value }]) => [name, value]))
}
