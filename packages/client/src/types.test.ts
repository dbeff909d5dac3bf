import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { clientTypes } from '../../../scripts/client-types.ts'

test('the types that are checked in are those that openapi.json makes (npm run generate)', async () => {
  const document = await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8')
  const checkedIn = await readFile(new URL('./types.ts', import.meta.url), 'utf8')
  assert.equal(checkedIn, clientTypes(document))
})

test('input types have the fields that a client may send, and demand those it must', async () => {
  const types = clientTypes(
    JSON.stringify({
      components: { schemas: { Thing: { type: 'object', properties: { id: { type: 'string', readOnly: true } } } } },
      paths: {
        '/things': {
          post: {
            operationId: 'things.create',
            requestBody: {
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    required: ['name'],
                    properties: {
                      id: { readOnly: true },
                      name: { type: 'string' },
                      size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
                    },
                  },
                },
              },
            },
            responses: { 201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
          },
        },
      },
    }),
  )
  assert.match(types, /export interface ThingCreate \{\n {2}name: string\n {2}size\?: number \| null\n\}/)
})
