import Type, { type Static } from 'typebox'
import type { Scope } from '../../../api/access/acl.ts'
import { refuseUnknown } from '../../../api/http/input/query-string.ts'
import { type Operation, queryWeight } from '../../../api/http/operation.ts'
import { ApiError, FaultCollector, invalid } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { parsePlan, queryPaths } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { attributeSchema } from '../attribute-dto.ts'
import { dataset } from '../dataset.ts'
import {
  filterLanguageParameter,
  filterParameter,
  requestedFilter,
  timeoutOf,
  timeoutParameter,
  timeParameter,
} from '../queries/query-parameters.ts'
import { operation, type QueryServices } from '../queries/query-services.ts'
import { duringTime } from '../time-setting.ts'
import { attributeStatistics } from './attribute-statistics.ts'
import { calendarUnits, maxCalendarBins } from './calendar-bins.ts'

const defaultParts = 10
const defaultBins = 20

const parameters = Type.Object({
  filter: filterParameter,
  'filter-lang': filterLanguageParameter,
  time: timeParameter,
  quantiles: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: defaultParts,
      description: 'Into how many equally large parts the quantiles divide the values; 100 for percentiles',
    }),
  ),
  bins: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: defaultBins,
      description:
        'How many bins a histogram has at most. Those of dates and times begin and end with years, months, weeks, days or hours',
    }),
  ),
  interval: Type.Optional(
    Type.Enum([...calendarUnits], {
      description: `Of a date or datetime: what each bin of the histogram is, whatever \`bins\` says; ${maxCalendarBins} at most`,
    }),
  ),
  timeout: timeoutParameter,
})

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
/** Values of types that have an order. */
const ordered = Type.Union([Type.String(), Type.Number()])
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const statisticsSchema = Type.Object({
  attribute: Type.String(),
  type: attributeSchema.properties.type,
  rows: Type.Object(
    { count: Type.Integer(), isEstimate: Type.Boolean() },
    { description: 'How many rows there are; of very large tables what the database expects' },
  ),
  count: Type.Integer({ description: 'How many values are not null' }),
  nulls: Type.Integer({ description: 'How many are' }),
  distinct: nullable(Type.Integer(), 'How many different values there are; an estimate when `sampled`'),
  min: nullable(ordered, 'Texts in the order of their code points'),
  max: nullable(ordered, 'Texts of more than 200 characters are cut, here and elsewhere, and end with …'),
  mean: nullable(Type.Number(), 'Of numbers; of those in the sample when `sampled`'),
  quantiles: Type.Array(Type.Object({ p: Type.Number(), value: ordered }), {
    description: 'Of numbers, dates and times: the share `p` of the values is at most `value`',
  }),
  histogram: Type.Array(Type.Object({ from: ordered, to: ordered, count: Type.Integer() }), {
    description: 'Of numbers and dates: how many values are at least `from` and below `to`; the last bin has `to` too',
  }),
  frequent: Type.Array(Type.Object({ value, count: Type.Integer() }), {
    description: 'The most frequent values, at most 20',
  }),
  sampled: Type.Boolean({
    description: 'Quantiles, histogram, frequent values and mean are those of a sample, their counts too',
  }),
  sampleSize: Type.Integer({ description: 'How many rows they are of' }),
})

type Context = Parameters<Operation<QueryServices>['handle']>[0] & { scope: Scope }

/** Statistics of an attribute, for clients that build classes, filters or a legend. */
export const statisticsOperation = operation({
  id: 'datasets.statistics',
  weight: queryWeight,
  method: 'GET',
  path: `${dataset.path}/{id}/attributes/{name}/statistics`,
  summary: 'Describe the values of an attribute',
  description:
    'Exact up to 10 000 rows; beyond that from a sample of about as many, marked `sampled`. Of geometry, json, arrays ' +
    'and bytes there is only how many are null. Parameters of the dataset itself are given as query parameters too.',
  access: { class: 'datasets', level: 'execute' },
  query: parameters,
  ownParameters: true,
  success: { status: 200, description: 'The statistics', schema: statisticsSchema },
  failures: [413, 429, 502, 504],
  handle: (context, { params: { id, name }, query }) => answer(context, { id, name, query }),
})

function checkInterval(interval: unknown, { name, type }: Attribute): void {
  if (interval === undefined || type === 'date' || type === 'datetime') return
  throw invalid('query/interval', `is only for attributes of type date or datetime, and "${name}" is of type ${type}`)
}

type Input = { readonly id: string; readonly name: string; readonly query: Static<typeof parameters> }

async function answer(context: Context, { id, name, query }: Input) {
  const { datasetCache, sources, slots } = context.services
  const { dataset, attributes, parameters: own } = await datasetCache.get(context.scope, id)
  const attribute = attributes.get(name)
  if (!attribute) throw new ApiError('not_found', unknownName('an attribute', name, attributes.keys()))
  const faults = new FaultCollector()
  faults.attempt(() => refuseUnknown(context.tree, parameters, own))
  const interval = own.has('interval') ? undefined : query.interval
  faults.attempt(() => checkInterval(interval, attribute))
  const filtered = faults.attempt(() => parsePlan(requestedFilter(query, context.tree), attributes, queryPaths))
  const time = own.has('time') ? undefined : query.time
  const plan = faults.finish(faults.attempt(() => filtered && duringTime(filtered, time, { dataset, attributes })))
  const source = await sources.open(dataset, context.tree)
  const { signal } = context
  const giveBack = await slots.take(dataset.applicationId, signal)
  const end = performance.now() + timeoutOf(query.timeout)
  const limits = () => ({ signal, timeoutMs: Math.max(1, Math.ceil(end - performance.now())) })
  const { quantiles: parts = defaultParts, bins = defaultBins } = query
  const binning = { bins, interval }
  const body = await attributeStatistics({ source, attribute, plan, parts, binning, limits }).finally(giveBack)
  return { body }
}
