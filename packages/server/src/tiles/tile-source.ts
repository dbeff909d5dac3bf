import Type from 'typebox'
import { type Scope, scopeOf } from '../access/acl.ts'
import { ApiError, invalid } from '../errors.ts'
import { defineResource, type Entity, field, type Removal, type Resource } from '../resource/resource.ts'
import { cleanAttribution } from './attribution.ts'
import { absentDataset } from './resolve-source.ts'
import { checkHeaders } from './tile-headers.ts'
import { checkTuning } from './tuning.ts'

export type Extent = readonly [west: number, south: number, east: number, north: number]

export type TileSource = {
  readonly id: string
  readonly applicationId: string
  readonly type: 'dataset' | 'tilelive'
  readonly source: string
  /** Empty where nobody gave one. */
  readonly name: string
  readonly attribution: string
  readonly minZoom: number
  readonly maxZoom: number
  readonly extentLngLat: Extent
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What is known of a source by looking at it. */
export type Detected = {
  minZoom: number
  maxZoom: number
  extentLngLat: Extent
  attribution?: string
  name?: string
  /** Not all of the data were looked at: some may lie beyond the extent. */
  isEstimate?: boolean
}

/** Finds out what a source covers; a source that cannot be a map is an error. */
export type Detect = (
  applicationId: string,
  type: TileSource['type'],
  source: string,
  signal?: AbortSignal,
) => Promise<Detected>

/** Throws a 400 for a source that the application does not have: a dataset, a file, or an address of an unknown form. */
export type Resolve = (applicationId: string, type: TileSource['type'], source: string) => Promise<void>

export type Look = { readonly detect: Detect; readonly resolve: Resolve }

const maxZoom = 24

const zoom = (description: string) =>
  field(
    'integer',
    Type.Integer({ minimum: 0, maximum: maxZoom, description: `${description}; found out when absent` }),
    {
      default: undefined,
      isKept: true,
    },
  )

const example = { type: 'tilelive', source: 'https://tiles.example.org/{z}/{x}/{y}.png', maxZoom: 12 }

export const tileSources = (applications: () => Resource, { detect, resolve }: Look, removal: Removal): Resource =>
  defineResource({
    name: 'tilesources',
    title: 'TileSource',
    acl: 'tiles',
    removal,
    writeFailures: [502, 504],
    example,
    fields: {
      type: field('string', Type.Enum(['dataset', 'tilelive']), { required: true }),
      source: field(
        'string',
        Type.String({ minLength: 1, maxLength: 2_000, description: 'The id of a dataset, or where tiles are' }),
        { required: true },
      ),
      name: field('string', Type.String({ maxLength: 255, description: 'What maps call it; else as its data' }), {
        default: '',
      }),
      attribution: field('string', Type.String({ maxLength: 2_000 }), { default: undefined, isKept: true }),
      minZoom: zoom('The lowest zoom that has tiles'),
      maxZoom: zoom('The highest zoom that has tiles'),
      extentLngLat: field(
        'json',
        Type.Array(Type.Number(), {
          minItems: 4,
          maxItems: 4,
          description: 'West, south, east, north; found out when absent',
        }),
        { default: undefined, isKept: true, queryable: false },
      ),
      /** Nobody said what the extent is, so it follows the data. */
      isExtentFound: field('boolean', Type.Boolean(), { mode: 'hidden' }),
      headers: field('json', Type.Record(Type.String(), Type.String(), { description: 'Sent with each tile' }), {
        default: {},
        isKept: true,
        queryable: false,
      }),
    },
    joins: { application: { one: applications, field: 'applicationId' } },
    async prepare({ values, previous, applicationId, leaving }, scope) {
      const next: Entity = { ...previous, ...withoutAbsent(values) }
      const type = next.type as TileSource['type']
      const source = String(next.source)
      const isSame = previous !== undefined && previous.source === source && previous.type === type
      if (type === 'dataset') checkReach(scope, source)
      await resolve(applicationId, type, source)
      if (values.headers !== undefined) checkHeaders(values.headers as Record<string, string>)
      checkTuning(next.metadata as Entity)
      const given = isSame ? { ...kept(next, values), ...withoutAbsent(values) } : withoutAbsent(values)
      const settled = await settle(type, given, () => detect(applicationId, type, source, leaving()))
      if (Number(settled.minZoom) > Number(settled.maxZoom)) throw invalid('body/minZoom', 'must not be above maxZoom')
      checkExtent(settled.extentLngLat as Extent)
      // A change that speaks of neither the source nor the extent leaves it as it is.
      const isSpokenOf = !isSame || Object.hasOwn(values, 'extentLngLat')
      return { ...values, ...settled, ...(isSpokenOf && { isExtentFound: given.extentLngLat === undefined }) }
    },
  })

const detectable = ['minZoom', 'maxZoom', 'extentLngLat', 'attribution'] as const

/** What is not mentioned stays as long as the source does; what is taken back is found out anew. */
const kept = (next: Entity, values: Entity): Entity =>
  Object.fromEntries(detectable.filter((name) => !Object.hasOwn(values, name)).map((name) => [name, next[name]]))

/** What is not given is found out. An archive that cannot be reached is taken if all is given that a map needs. */
async function settle(type: TileSource['type'], given: Entity, detect: () => Promise<Detected>): Promise<Entity> {
  const isGiven = (name: string): boolean => given[name] !== undefined
  const canDoWithout = type === 'tilelive' && ['minZoom', 'maxZoom', 'extentLngLat'].every(isGiven)
  const found: Partial<Detected> = detectable.every(isGiven)
    ? {}
    : await detect().catch((error) => {
        if (canDoWithout && error instanceof ApiError && error.code === 'upstream_failed') return {}
        throw error
      })
  return {
    minZoom: given.minZoom ?? found.minZoom,
    maxZoom: given.maxZoom ?? found.maxZoom,
    extentLngLat: given.extentLngLat ?? found.extentLngLat,
    attribution: cleanAttribution(String(given.attribution ?? found.attribution ?? '')),
  }
}

/** A tile source makes its dataset readable to others, so whoever makes it must be able to read it. */
function checkReach(scope: Scope, id: string): void {
  const reach = scopeOf(scope.caller, 'datasets', 'execute')
  if (reach && (reach.ids === 'any' || reach.ids.includes(id.toLowerCase()))) return
  throw absentDataset()
}

function checkExtent([west, south, east, north]: Extent): void {
  const isBox = west <= east && south <= north && south >= -90 && north <= 90 && west >= -540 && east <= 540
  if (!isBox) throw invalid('body/extentLngLat', 'must be [west, south, east, north] in degrees')
}

const withoutAbsent = (values: Entity): Entity =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
