import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Db } from '../db/db.ts'
import { type Operation, operation } from '../http/operation.ts'
import { createRecent } from '../resource/recent.ts'
import type { Resource } from '../resource/resource.ts'
import { absoluteStyle } from './absolute-style.ts'

export type MapDependencies = { db: Db; styles: Resource; baseUrl(request: FastifyRequest): string }

/** Styles as maps load them. */
export function mapOperations({ db, styles, baseUrl }: MapDependencies): Operation[] {
  const known = createRecent({ db, resource: styles }, ({ entity }) => entity.style as Record<string, unknown>)
  return [
    operation({
      id: 'maps.style',
      method: 'GET',
      path: '/maps/{id}.json',
      summary: 'Get a style as maps load it',
      description: 'Sources, glyphs and sprite have absolute addresses; a key in the address is carried into them.',
      access: { class: 'styles', level: 'execute' },
      success: { status: 200, description: 'A MapLibre style', schema: Type.Unknown() },
      async handle({ request, scope, tree }, { params: { id = '' } }) {
        const key = tree['api-key']
        const style = absoluteStyle(
          await known.get(scope, id),
          baseUrl(request),
          typeof key === 'string' ? key : undefined,
        )
        return { body: style }
      },
    }),
  ]
}
