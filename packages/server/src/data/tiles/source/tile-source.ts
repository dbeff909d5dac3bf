import Type from 'typebox'
import type { Caller } from '../../../api/access/acl.ts'
import { headerRecord } from '../../../api/http/input/bounded-schemas.ts'
import { changedOf, demandRepointing } from '../../../api/resource/references.ts'
import { type BaseServices, defineResource, type Entity, field } from '../../../api/resource/resource.ts'
import { standardOperations } from '../../../api/resource/standard-operations.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { isHiddenFrom } from '../../datasets/rules/record-view.ts'
import { checkHeaders } from './allowed-headers.ts'
import { cleanAttribution } from './attribution.ts'
import type { TileExtent } from './tile-bounds.ts'
import { readTileSettings } from './tile-settings.ts'
import type { TileSourceContext, TileSourceCoverage, TileSourceType } from './tile-source-type.ts'
import { tileSourceTypeNames, tileSourceTypeOf } from './tile-source-types.ts'

const maxZoom = 24

const zoom = (description: string) =>
  field(
    'integer',
    Type.Integer({ minimum: 0, maximum: maxZoom, description: `${description}; found out when absent` }),
    {
      default: undefined,
      isKeptOnReplace: true,
    },
  )

const example = { type: 'tilelive', source: 'https://tiles.example.org/{z}/{x}/{y}.png', maxZoom: 12 }

export type TileSourceServices = BaseServices & { readonly tiles: { readonly context: TileSourceContext } }

export const tileSource = defineResource<TileSourceServices>({
  name: 'tilesources',
  title: 'TileSource',
  acl: 'tiles',
  // DELETE is in uploads/, because it also removes the uploaded file.
  verbs: ['list', 'create', 'get', 'replace', 'patch'],
  writeFailures: [502, 504],
  example,
  fields: {
    type: field('string', Type.Enum(tileSourceTypeNames), { required: true }),
    source: field(
      'string',
      Type.String({ minLength: 1, maxLength: 2_000, description: 'The id of a dataset, or where tiles are' }),
      { required: true },
    ),
    name: field('string', Type.String({ maxLength: 255, description: 'What maps call it; else as its data' }), {
      default: '',
    }),
    attribution: field('string', Type.String({ maxLength: 2_000 }), { default: undefined, isKeptOnReplace: true }),
    minZoom: zoom('The lowest zoom that has tiles'),
    maxZoom: zoom('The highest zoom that has tiles'),
    extentLngLat: field(
      'json',
      Type.Array(Type.Number(), {
        minItems: 4,
        maxItems: 4,
        description: 'West, south, east, north; found out when absent',
      }),
      { default: undefined, isKeptOnReplace: true, queryable: false },
    ),
    /** The extent was detected, so it follows the data. */
    isExtentFound: field('boolean', Type.Boolean(), { mode: 'hidden' }),
    headers: field('json', headerRecord({ description: 'Sent with each tile' }), {
      default: {},
      isKeptOnReplace: true,
      queryable: false,
    }),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  view: async ({ caller }) => ({ columns: { extent_lng_lat: visibleExtent(caller) } }),
  async prepare({ values, previous, applicationId, leaving }, scope, { tiles: { context } }) {
    const next: Entity = { ...previous, ...withoutAbsent(values) }
    const type = tileSourceTypeOf(next)
    const source = String(next.source)
    const changed = changedOf(['type', 'source'], previous, values)
    const isSame = changed.length === 0
    if (previous) demandRepointing(scope, changed, 'tile sources')
    const settings = isSame ? { ...kept(next, values), ...withoutAbsent(values) } : withoutAbsent(values)
    // Neither a source that stays nor what was detected of it is asked about again.
    if (!isSame || !detectable.every((name) => settings[name] !== undefined)) {
      type.checkReach?.(scope, source)
      await type.resolve(context, applicationId, source)
    }
    if (values.headers !== undefined) checkHeaders(values.headers as Record<string, string>)
    if (values.metadata !== undefined) readTileSettings(values.metadata as Entity)
    const settled = await settle(type, settings, () => type.detect(context, applicationId, source, leaving()))
    if (Number(settled.minZoom) > Number(settled.maxZoom)) throw invalid('body/minZoom', 'must not be above maxZoom')
    checkExtent(settled.extentLngLat as TileExtent)
    // A change of neither the source nor the extent keeps this flag.
    const isSpokenOf = !isSame || Object.hasOwn(values, 'extentLngLat')
    return { ...values, ...settled, ...(isSpokenOf && { isExtentFound: settings.extentLngLat === undefined }) }
  },
})

/** What was found out of the extent is that of all rows, which tells those of hidden ones whom rules of the dataset bind. */
const visibleExtent = (caller: Caller): Sql =>
  sql`CASE WHEN is_extent_found AND type = 'dataset' AND ${isHiddenFrom(caller, raw('lower(tilesources.source)'))}
    THEN '[-180, -85.051129, 180, 85.051129]'::jsonb ELSE extent_lng_lat END`

export const tileSourceOperations = standardOperations(tileSource)

const detectable = ['minZoom', 'maxZoom', 'extentLngLat', 'attribution'] as const

/** Unmentioned values are kept while the source stays the same; values set to null are detected again. */
const kept = (next: Entity, values: Entity): Entity =>
  Object.fromEntries(detectable.filter((name) => !Object.hasOwn(values, name)).map((name) => [name, next[name]]))

/** Detects missing values. An unreachable archive is accepted if all values that a map needs are given. */
async function settle(
  type: TileSourceType,
  settings: Entity,
  detect: () => Promise<TileSourceCoverage>,
): Promise<Entity> {
  const isGiven = (name: string): boolean => settings[name] !== undefined
  const canDoWithout = type.mayBeUnreachable && ['minZoom', 'maxZoom', 'extentLngLat'].every(isGiven)
  const coverage: Partial<TileSourceCoverage> = detectable.every(isGiven)
    ? {}
    : await detect().catch((error) => {
        if (canDoWithout && error instanceof ApiError && error.code === 'upstream_failed') return {}
        throw error
      })
  return {
    minZoom: settings.minZoom ?? coverage.minZoom,
    maxZoom: settings.maxZoom ?? coverage.maxZoom,
    extentLngLat: settings.extentLngLat ?? coverage.extentLngLat,
    attribution: cleanAttribution(String(settings.attribution ?? coverage.attribution ?? '')),
  }
}

function checkExtent([west, south, east, north]: TileExtent): void {
  const isBox = west <= east && south <= north && south >= -90 && north <= 90 && west >= -540 && east <= 540
  if (!isBox) throw invalid('body/extentLngLat', 'must be [west, south, east, north] in degrees')
}

const withoutAbsent = (values: Entity): Entity =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
