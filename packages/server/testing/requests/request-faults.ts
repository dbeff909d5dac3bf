import fc, { type Arbitrary } from 'fast-check'
import { encode, encodedTexts, hostileJson, hostileText } from '../hostile/hostile-values.ts'
import type { RequestDraft } from './draft.ts'
import { deepObject, operators, type Pair } from './query-parameters.ts'

/** The same request with one thing wrong with it (or, by luck, still right). */
export function withOneFault(draft: RequestDraft): Arbitrary<RequestDraft> {
  const faults: Arbitrary<RequestDraft>[] = [
    hostilePair.map((pair) => ({ ...draft, query: [...draft.query, pair] })),
    hostileHeader.map((header) => ({ ...draft, headers: { ...draft.headers, ...header } })),
  ]
  for (const name of Object.keys(draft.params)) {
    faults.push(hostileSegment.map((text) => ({ ...draft, params: { ...draft.params, [name]: text } })))
  }
  if (draft.query.length > 0) {
    faults.push(
      fc.tuple(fc.nat(), hostileText.map(encode)).map(([at, text]) => ({
        ...draft,
        query: draft.query.map(([name, value], index) =>
          index === at % draft.query.length ? [name, text] : [name, value],
        ),
      })),
    )
  }
  if (draft.body !== undefined) {
    const fault = fc
      .tuple(fc.nat(), hostileJson)
      .map(([at, value]) => ({ ...draft, body: replacedAt(draft.body, at, value) }))
    faults.push(fault, fault, fault)
    faults.push(
      fc
        .tuple(hostileText, hostileJson)
        .map(([name, value]) => ({ ...draft, body: extended(draft.body, name, value) })),
    )
  }
  return fc.oneof(...faults)
}

/** Replaces the value at one of the places in a document, counted in its order. */
function replacedAt(root: unknown, at: number, value: unknown): unknown {
  const places: (readonly [object, string])[] = []
  const copy = { root: structuredClone(root) }
  const visit = (parent: object): void => {
    for (const [key, child] of Object.entries(parent)) {
      places.push([parent, key])
      if (typeof child === 'object' && child !== null) visit(child)
    }
  }
  visit(copy)
  const [parent, key] = places[at % places.length] ?? [copy, 'root']
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
  return copy.root
}

function extended(body: unknown, name: string, value: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return value
  return Object.defineProperty({ ...body }, name, { value, enumerable: true })
}

const hostileSegment = fc.oneof(hostileText.map(encode), fc.constantFrom(...encodedTexts))
const hostileFilter = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('name', 'createdAt', 'id', 'metadata', 'style', 'secret', 'hash', '__proto__'),
      fc.constantFrom(...operators),
    )
    .chain(([name, operator]) => hostileJson.map((value) => ({ [name]: { [operator]: value } }))),
  fc.tuple(fc.constantFrom(...operators), hostileJson).map(([operator, value]) => ({ [operator]: value })),
  hostileJson,
)
const hostilePair: Arbitrary<Pair> = fc.oneof(
  hostileFilter.map((filter): Pair => ['filter', encode(JSON.stringify(filter) ?? '')]),
  hostileFilter.map((filter): Pair => deepObject('filter', filter)[0] ?? ['filter', '']),
  fc.tuple(
    fc.constantFrom(
      'filter',
      'filter[name]',
      'fields',
      'sort',
      'join',
      'limit',
      'offset',
      'cursor',
      'api-key',
      'a[b',
      '[]',
      '%zz',
      '__proto__[x]',
    ),
    fc.oneof(hostileText.map(encode), fc.constantFrom(...encodedTexts)),
  ),
)
/** Any text that a real connection can carry in a header. */
const headerText = fc.oneof(
  fc.constantFrom(
    '',
    '"',
    'W/',
    '"1',
    '*',
    ', ',
    'null',
    '~many.20000~',
    "' OR 1=1 --",
    '\u00ff\u0080',
    '00000000-0000-0000-0000-000000000000',
  ),
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 40,
  }),
)
const contentTypes = [
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'application/vnd.api+json',
  'multipart/form-data',
  '',
  'x',
]
const hostileHeader: Arbitrary<Record<string, string>> = fc.oneof(
  fc.constantFrom(...contentTypes).map((type) => ({ 'content-type': type })),
  fc
    .tuple(
      fc.constantFrom(
        'if-match',
        'if-none-match',
        'x-request-id',
        'x-api-key',
        'accept',
        'origin',
        'range',
        'expect',
        'x-forwarded-for',
        'x-http-method-override',
        'authorization',
        'cookie',
        'accept-encoding',
      ),
      headerText,
    )
    .map(([name, value]) => ({ [name]: value })),
)

const anyRawBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => text.slice(0, -1)),
  fc.constantFrom(
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1e309}',
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
  ),
  fc.constantFrom(
    '~deep.60~',
    '~deep.100~',
    '~deep.100000~',
    '~keys.10001~',
    '"~many.1100000~"',
    '{"name":"~many.4200000~"}',
  ),
  fc.constantFrom(
    '\ufeff{}',
    '{"name":"\\ud800"}',
    '{"name":"\\u0000"}',
    'null',
    '0',
    '""',
    '[]',
    '{"a":1,"a":2}',
    'NaN',
  ),
)
export const anyGarbage: Arbitrary<Partial<RequestDraft>> = fc.oneof(
  anyRawBody.map((rawBody) => ({ rawBody })),
  fc
    .tuple(anyRawBody, fc.constantFrom(...contentTypes))
    .map(([rawBody, type]) => ({ rawBody, headers: { 'content-type': type } })),
  fc.array(hostilePair, { maxLength: 5 }).map((query) => ({ query })),
  fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'POST', 'GET', 'PROPFIND').map((method) => ({ method })),
  fc.array(hostileSegment, { maxLength: 4 }).map((segments) => ({ path: `/${segments.join('/')}` })),
  fc.array(hostileSegment, { maxLength: 4 }).map((segments) => ({ path: `/api/v1/styles/${segments.join('/')}` })),
)
