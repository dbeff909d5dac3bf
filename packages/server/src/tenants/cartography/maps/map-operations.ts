import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Operation, operationUsing } from '../../../api/http/operation.ts'
import { createRecordCache, type RecordCache } from '../../../api/resource/record-cache.ts'
import type { Store } from '../../../api/resource/resource.ts'
import { absoluteStyle } from './absolute-style.ts'

type CachedStyle = { readonly style: Readonly<Record<string, unknown>>; readonly applicationId: string }

export const createStyleCache = (styles: Store): RecordCache<CachedStyle> =>
  createRecordCache(styles, ({ entity }) => ({
    style: entity.style as Record<string, unknown>,
    applicationId: String(entity.applicationId),
  }))

export type MapServices = {
  readonly styleCache: RecordCache<CachedStyle>
  readonly tiles: { readonly basemap: { hasStreets(applicationId: string): Promise<boolean> } }
  baseUrl(request: FastifyRequest): string
}
const operation = operationUsing<MapServices>()

/** The operations that serve styles to maps. */
export const mapOperations: readonly Operation<MapServices>[] = [
  operation({
    id: 'maps.style',
    method: 'GET',
    path: '/maps/{id}.json',
    summary: 'Get a style as maps load it',
    description: 'Sources, glyphs and sprite have absolute addresses; a key in the address is carried into them.',
    access: { class: 'styles', level: 'execute' },
    success: { status: 200, description: 'A MapLibre style', schema: Type.Unknown() },
    async handle({ request, scope, tree, services: { styleCache, tiles, baseUrl } }, { params: { id } }) {
      const key = tree['api-key']
      const { style, applicationId } = await styleCache.get(scope, id)
      const basemapOf = (await tiles.basemap.hasStreets(applicationId)) ? applicationId : undefined
      const links = { base: baseUrl(request), key: typeof key === 'string' ? key : undefined, basemapOf }
      return { body: absoluteStyle(style, links) }
    },
  }),
]
