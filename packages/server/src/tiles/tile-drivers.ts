import Type from 'typebox'
import { type Operation, operation } from '../http/operation.ts'

const drivers = ['dataset', 'tilelive']

export function tileDriverOperations(): Operation[] {
  return [
    operation({
      id: 'tilesources.drivers',
      method: 'GET',
      path: '/api/v1/tilesources/drivers',
      summary: 'List the kinds of tile sources',
      access: { class: 'tiles', level: 'execute' },
      success: { status: 200, description: 'The names of the drivers', schema: Type.Array(Type.String()) },
      handle: async () => ({ body: drivers }),
    }),
  ]
}
