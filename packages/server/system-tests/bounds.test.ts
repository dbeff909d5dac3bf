// One database is enough: only declarations are looked at.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { bridgeSchemas } from '../src/agents/bridges/bridge-settings.ts'
import { tools } from '../src/agents/mcp/mcp-server.ts'
import { openApiDocument } from '../src/boot/documents/openapi-document.ts'
import { apiDocument } from '../src/data/ogc/api-document.ts'
import { operations } from '../src/operations.ts'
import { driverNames, driverOf } from '../src/tenants/contactpoints/drivers.ts'
import { type JsonSchema, unboundedParts } from '../testing/hostile/unbounded-schemas.ts'

/** Without the symbols of the schema library. */
const plain = (schema: unknown): JsonSchema => JSON.parse(JSON.stringify(schema))

const refuses = (schema: unknown, path: string): void => assert.deepEqual(unboundedParts(plain(schema), path), [])

describe('every value of a request is bounded', () => {
  for (const { id, query, body, multipart } of operations) {
    test(`of ${id}`, () => {
      for (const [name, schema] of Object.entries(query?.properties ?? {})) refuses(schema, `query/${name}`)
      if (body) refuses(body, 'body')
      if (multipart) refuses(multipart, 'form')
    })
  }
  for (const { name, input } of tools) test(`of the tool ${name}`, () => refuses(input, 'arguments'))
})

describe('every setting is bounded', () => {
  for (const type of driverNames) {
    test(`of contact points of type ${type}`, () => refuses(driverOf(type).settings, 'settings'))
  }
  for (const [type, schema] of Object.entries(bridgeSchemas)) {
    test(`of agents of type ${type}`, () => refuses(schema, 'config'))
  }
})

type Document = { paths: Record<string, Record<string, { operationId: string } & JsonSchema>> } & JsonSchema

const documents: Record<string, () => Promise<string>> = {
  'openapi.json': openApiDocument,
  'the definition of /ogc': async () => {
    const ogc = operations.filter(({ id }) => id.startsWith('ogc.'))
    return JSON.stringify(apiDocument(ogc, 'https://example.org/ogc'))
  },
}

for (const [name, read] of Object.entries(documents)) {
  describe(`every parameter and body in ${name} is bounded`, () => {
    let document: Document
    before(async () => {
      document = JSON.parse(await read())
    })
    const resolve = (reference: string): JsonSchema => {
      const steps = reference.replace(/^#\//, '').split('/')
      return steps.reduce((part, step) => part[step] as JsonSchema, document as JsonSchema)
    }
    test('and the document has operations', () => assert.ok(Object.keys(document.paths).length > 5))

    test('of each operation', () => {
      const found = Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).flatMap((operation) =>
          requestSchemas(operation, resolve).flatMap(({ path, schema }) =>
            unboundedParts(schema, `${operation.operationId} ${path}`, resolve),
          ),
        ),
      )
      assert.deepEqual(found, [])
    })
  })
}

type Placed = { readonly path: string; readonly schema: unknown }

function requestSchemas(operation: JsonSchema, resolve: (reference: string) => JsonSchema): Placed[] {
  const { parameters = [], requestBody } = operation as {
    parameters?: JsonSchema[]
    requestBody?: { content: Record<string, { schema: unknown }> }
  }
  const given = parameters.map((part) => (typeof part.$ref === 'string' ? resolve(part.$ref) : part))
  return [
    ...given.map(({ in: where, name, schema }) => ({ path: `${where}/${name}`, schema })),
    ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => ({ path: `body ${type}`, schema })),
  ]
}

test('a schema without a bound is found, wherever it is', () => {
  const text = { type: 'string' }
  const bounded = { type: 'string', maxLength: 5 }
  const component = { type: 'object', additionalProperties: text, maxProperties: 3 }
  const faults = unboundedParts(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        name: text,
        fine: bounded,
        list: { type: 'array', items: bounded },
        lists: { type: 'array', maxItems: 3, items: { type: 'array', maxItems: 2, items: text } },
        either: { anyOf: [bounded, { type: 'null' }, text] },
        keyed: { type: 'object', patternProperties: { '^a': bounded } },
        open: { type: 'object', maxProperties: 3 },
        any: {},
        named: { $ref: '#/named' },
        choice: { enum: ['a'] },
        whole: { type: 'object', maxProperties: 3, 'x-bounded-by': 'bodyBytes' },
        unknown: { 'x-bounded-by': 'nothing' },
        set: { readOnly: true },
      },
    },
    'body',
    () => component,
  )
  assert.deepEqual(faults, [
    'body/name: a text without maxLength',
    'body/list: a list without maxItems',
    'body/lists/*/*: a text without maxLength',
    'body/either<2>: a text without maxLength',
    'body/keyed: an object with free keys without maxProperties',
    'body/open: an object of any values without x-bounded-by',
    'body/any: any value without x-bounded-by',
    'body/named/*: a text without maxLength',
    'body/unknown: any value without x-bounded-by',
  ])
})
