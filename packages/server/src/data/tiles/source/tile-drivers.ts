import Type from 'typebox'
import { type Operation, operation } from '../../../api/http/operation.ts'
import { tileSourceTypeNames } from './tile-source-types.ts'

export const tileDriverOperations: readonly Operation[] = [
  operation({
    id: 'tilesources.drivers',
    method: 'GET',
    path: '/api/v1/tilesources/drivers',
    summary: 'List the kinds of tile sources',
    access: { class: 'tiles', level: 'execute' },
    success: { status: 200, description: 'The names of the drivers', schema: Type.Array(Type.String()) },
    handle: async () => ({ body: tileSourceTypeNames }),
  }),
]
