import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

// What generators of clients cannot take, found by compiling what four of them make of the document.

type Content = Readonly<Record<string, { readonly schema?: Readonly<Record<string, unknown>> }>>
type Described = {
  readonly operationId: string
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

const document = JSON.parse(await readFile(new URL('../../../../../../openapi.json', import.meta.url), 'utf8'))
const operations = Object.values<Record<string, Described>>(document.paths).flatMap((path) => Object.values(path))

test('every JSON body has a name, the same for each of its media types', () => {
  for (const { operationId, requestBody } of operations) {
    const json = Object.entries(requestBody?.content ?? {}).filter(([type]) =>
      /^application\/(merge-patch\+)?json$/.test(type),
    )
    const names = new Set(json.map(([, { schema = {} }]) => schema.$ref ?? (schema['x-bounded-by'] && 'anything')))
    assert.ok(names.size <= 1 && !names.has(undefined), operationId)
  }
})

test('no body is a choice between an object and a list, and no field of one can only be null', () => {
  for (const [name, schema] of Object.entries<Record<string, unknown>>(document.components.schemas)) {
    if (!name.endsWith('Body')) continue
    const choices = (schema.anyOf ?? []) as { type?: string }[]
    assert.ok(!choices.some(({ type }) => type === 'array'), name)
    const properties = Object.entries((schema.properties ?? {}) as Record<string, { type?: string }>)
    assert.deepEqual(
      properties.filter(([, { type }]) => type === 'null').map(([property]) => property),
      [],
      name,
    )
  }
})

test('a stream of events has the schema of an event, and none of a whole that never ends', () => {
  const streams = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {} }) => content['text/event-stream'] ?? []),
  )
  assert.equal(streams.length, 2)
  for (const stream of streams) {
    assert.equal(stream.schema, undefined)
    assert.ok('x-item-schema' in stream)
  }
})
