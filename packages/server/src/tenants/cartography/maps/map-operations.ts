import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Operation, operationUsing } from '../../../api/http/operation.ts'
import { createRecordCache, type RecordCache } from '../../../api/resource/record-cache.ts'
import type { Store } from '../../../api/resource/resource.ts'
import { absoluteStyle } from './absolute-style.ts'

type KnownStyles = RecordCache<Readonly<Record<string, unknown>>>

export const createKnownStyles = (styles: Store): KnownStyles =>
  createRecordCache(styles, ({ entity }) => entity.style as Record<string, unknown>)

export type MapServices = { readonly knownStyles: KnownStyles; baseUrl(request: FastifyRequest): string }
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
    async handle({ request, scope, tree, services: { knownStyles, baseUrl } }, { params: { id } }) {
      const key = tree['api-key']
      const style = absoluteStyle(
        await knownStyles.get(scope, id),
        baseUrl(request),
        typeof key === 'string' ? key : undefined,
      )
      return { body: style }
    },
  }),
]
