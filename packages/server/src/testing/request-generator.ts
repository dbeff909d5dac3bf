import fc, { type Arbitrary } from 'fast-check'

/**
 * A request to send. `~name~` in it stands for an id, a key or a long text that is put in when it is sent, so that
 * a seed gives the same requests in every run and a counterexample stays readable.
 */
export type Attempt = { method: string; url: string; headers: Record<string, string>; body?: string | Uint8Array }

/** A caller: what goes into its key's place, and the ids it knows, by the segment of the address they belong to. */
export type Principal = {
  /** null sends no key at all. */
  readonly keys: readonly (string | null)[]
  /** What it may say in `x-application-id`; null says nothing. */
  readonly applications: readonly (string | null)[]
  readonly ids: Readonly<Record<string, readonly string[]>>
  /** The ids that it may delete; the rest are for the other requests to find. */
  readonly expendable: Readonly<Record<string, readonly string[]>>
}

type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly readOnly?: boolean
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
}
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
export type Entry = {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
/** As much of OpenAPI as our own document uses. */
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A request before it is written down. Parameters are percent-encoded already: some are deliberately so in a wrong way. */
type Draft = {
  readonly method: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly rawBody?: string | Uint8Array
}

/** Requests to every operation of the document: some 60 % valid, 30 % with one fault, 10 % garbage. */
export function anyRequest(
  document: Document,
  principals: readonly (readonly [number, Principal])[],
): Arbitrary<Attempt> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => ({ path, method: method.toUpperCase(), entry })),
  )
  const drafts = principals.map(([weight, principal]) => {
    const valid = fc.oneof(
      ...operations.map((operation) => ({
        // What takes neither parameters nor a body has little to go wrong.
        weight: operation.entry.parameters.length > 0 || operation.entry.requestBody ? 5 : 1,
        arbitrary: validDraft(document, operation, principal),
      })),
    )
    const arbitrary = fc.oneof(
      { weight: 6, arbitrary: valid },
      { weight: 3, arbitrary: valid.chain(withOneFault) },
      { weight: 1, arbitrary: fc.tuple(valid, anyGarbage).map(([draft, garbage]) => ({ ...draft, ...garbage })) },
    )
    return { weight, arbitrary }
  })
  return fc.oneof(...drafts).map(written)
}

function written({ method, path, params, query, headers, body, rawBody }: Draft): Attempt {
  const address = path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  return {
    method,
    url: search ? `${address}?${search}` : address,
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(text !== undefined && { body: text }),
  }
}

// What has broken other servers.
const sqlTexts = ["'", '"', ';--', '$$', "E'\\''", "' OR 1=1 --", '\\', '%', '$1', '/*', 'svc.apikeys', "'::jsonb"]
const nameTexts = [
  'a.b',
  'ctid',
  'xmin',
  'geom',
  'toString',
  'hasOwnProperty',
  '0',
  '-1',
  '*',
  '$where',
  '..',
  'ünï',
  ' ',
]
const strangeTexts = [
  '',
  'שלום\u202e',
  '👩‍🚀',
  '\u{ffff}',
  '\u00a0',
  '\r\nx-injected: 1',
  '<script>',
  '~many.64~',
  '~many.65~',
]
const refusedTexts = [
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '__proto__',
  'constructor',
  'prototype',
  '~many.10000~',
  '~many.70000~',
]
const numberTexts = [
  'NaN',
  'Infinity',
  '1_000',
  '0x10',
  '-0',
  '1e309',
  '9007199254740993',
  '9223372036854775808',
  '1.5',
  '-1',
]
const dateTexts = [
  '9999-12-31T23:59:59-23:59',
  '2130-01-01T00:00:00+23:59',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '2024-02-30T00:00:00Z',
  '294277-01-01T00:00:00Z',
  'infinity',
]
const pathTexts = ['../../etc/passwd', '..\\..\\x', '/', '//evil.example', 'http://evil.example/', '.', '?', '#', 'a/b']
const encodedTexts = [
  '..%2f..%2fetc%2fpasswd',
  '%00',
  '%ED%A0%80',
  '%',
  '%zz',
  '%C0%AF',
  ';x=1',
  '%3b',
  '+',
  '%252e',
  '..',
  '.',
  '%2F',
]
const numbers = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e21, 1.7e308, 5e-324]

const goodTexts = [...sqlTexts, ...nameTexts, ...strangeTexts]
const anyName = fc.oneof(fc.constantFrom('colour', 'a', 'b', ...goodTexts), fc.string({ unit: 'binary', maxLength: 8 }))
const hostileText = fc.oneof(
  fc.constantFrom(...goodTexts, ...refusedTexts, ...numberTexts, ...dateTexts, ...pathTexts),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 6 }),
)
const goodJson = jsonOf(fc.oneof(fc.constantFrom(...goodTexts), fc.string()), anyName)
const hostileJson = fc.oneof(
  hostileText,
  fc.constantFrom(...numbers, null, true, [], {}, [null], [[]], { $eq: 1 }),
  jsonOf(hostileText, hostileText),
)

function jsonOf(text: Arbitrary<string>, name: Arbitrary<string>): Arbitrary<unknown> {
  return fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.oneof(
        text,
        fc.constantFrom(...numbers),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(name, tie('json'), { maxKeys: 3 }),
    ),
  })).json
}

type Operation = { readonly path: string; readonly method: string; readonly entry: Entry }

function validDraft(document: Document, { path, method, entry }: Operation, principal: Principal): Arbitrary<Draft> {
  const record = recordOf(document, entry)
  const [, , , segment = ''] = path.split('/')
  // Also to delete a key of metadata: with `..` for the key, the address is the record's.
  const ids = (method === 'DELETE' ? principal.expendable : principal.ids)[segment] ?? []
  const named = (place: string) => entry.parameters.filter((parameter) => parameter.in === place)
  const params = named('path').map(({ name }) => [name, segmentOf(name, ids)] as const)
  const query = named('query').map(({ name, schema }) => [name, parameterOf(name, schema, record)] as const)
  const conditions = named('header').map(({ name }) => [name.toLowerCase(), anyTag] as const)
  const [content] = Object.values(entry.requestBody?.content ?? {})
  return fc
    .record({
      params: membersOf(
        params,
        params.map(([name]) => name),
      ),
      query: membersOf(query).map((pairs) => Object.values(pairs).flat()),
      conditions: often(4, fc.constant({}), membersOf(conditions)),
      credential: credentialOf(principal),
      body: content ? bodyOf(document, content, record, principal) : fc.constant(undefined),
    })
    .map(({ params, query, conditions, credential, body }) => ({
      method,
      path,
      params,
      query: [...query, ...credential.query],
      headers: { ...conditions, ...credential.headers },
      body,
    }))
}

/** The fields of the records that an operation answers with. */
function recordOf(document: Document, { responses }: Entry): Readonly<Record<string, Schema>> {
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const schema = success?.[1].content?.['application/json']?.schema ?? {}
  const branches = [schema, ...(schema.anyOf ?? [])].flatMap((branch) => [branch, branch.items ?? {}])
  return Object.assign({}, ...branches.map((branch) => resolved(document, branch).properties ?? {}))
}

function resolved(document: Document, schema: Schema): Schema {
  return schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
}

/** An object with these members, of which some may be missing. */
function membersOf<T>(
  members: readonly (readonly [string, Arbitrary<T>])[],
  required: readonly string[] = [],
): Arbitrary<Record<string, T>> {
  const known: string[] = required.filter((name) => members.some(([member]) => member === name))
  return fc.record(Object.fromEntries(members), { requiredKeys: known }) as Arbitrary<Record<string, T>>
}

const often = <T, U>(weight: number, usual: Arbitrary<T>, other: Arbitrary<U>): Arbitrary<T | U> =>
  fc.oneof<[{ weight: number; arbitrary: Arbitrary<T | U> }, Arbitrary<T | U>]>({ weight, arbitrary: usual }, other)

function segmentOf(name: string, ids: readonly string[]): Arbitrary<string> {
  const keys = fc.constantFrom('colour', 'colour', 'colour.hex', 'list', 'list.0', 'a.b.c')
  if (name === 'file') return fc.constantFrom('start.js', 'swagger-ui.css', 'nothing.js')
  if (name !== 'id') return often(3, keys, anyName.filter((text) => text !== '').map(encode))
  return ids.length > 0 ? often(9, fc.constantFrom(...ids), fc.uuid({ version: 4 })) : keys
}

const anyTag = fc.constantFrom('*', '"1"', '"2"', 'W/"1"', '"1", "2"', '"99999999999999999999"', '""')

function credentialOf({ keys, applications }: Principal): Arbitrary<Pick<Draft, 'query' | 'headers'>> {
  const place = fc.constantFrom('x-api-key', 'x-api-key', 'x-svc-api-key', 'api-key')
  return fc
    .tuple(fc.constantFrom(...keys), place, fc.constantFrom(...applications))
    .map(([key, name, application]) => ({
      query: key !== null && name === 'api-key' ? [[name, encode(key)]] : [],
      headers: {
        ...(key !== null && name !== 'api-key' && { [name]: key }),
        ...(application !== null && { 'x-application-id': application }),
      },
    }))
}

/** A body by its schema. Where the example has a value it is mostly taken: schemas do not tell all that makes a style. */
function bodyOf(
  document: Document,
  { schema, example }: Content[string],
  record: Readonly<Record<string, Schema>>,
  { ids }: Principal,
): Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema
  const examples = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>
  const names = Object.keys(properties)
  if (names.length === 0)
    return example === undefined ? goodJson : often(1, fc.constant(example), valueFor(document, schema))
  const fields = names.map((name): [string, Arbitrary<unknown>] => {
    if (name === 'applicationId') return [name, fc.constantFrom(...(ids.applications ?? []))]
    // A merge patch takes anything at first; what it makes has to fit the record.
    const own = properties[name] ?? {}
    const value = valueFor(document, own.type || own.anyOf || own.enum || own.readOnly ? own : (record[name] ?? {}))
    return [name, Object.hasOwn(examples, name) ? often(4, fc.constant(examples[name]), value) : value]
  })
  return membersOf(fields, required)
}

function valueFor(document: Document, schema: Schema): Arbitrary<unknown> {
  const { type, items = {}, minimum, maximum, minItems = 0 } = schema
  const fits = (n: number) => Number.isInteger(n) && n >= (minimum ?? -Infinity) && n <= (maximum ?? Infinity)
  // A related record: the service sets it itself, and following it would never end, because it refers back.
  if (schema.$ref) return goodJson
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((branch) => valueFor(document, branch)))
  if (type === 'string') return textOf(schema)
  if (type === 'integer') return fc.oneof(fc.maxSafeInteger(), fc.constantFrom(...numbers)).filter(fits)
  if (type === 'number') return fc.double({ min: minimum ?? -1e300, max: maximum ?? 1e300, noNaN: true })
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'array') return fc.array(valueFor(document, items), { minLength: minItems, maxLength: minItems + 3 })
  return type === 'object' ? objectOf(document, schema) : goodJson
}

function objectOf(
  document: Document,
  { properties = {}, required = [], patternProperties = {} }: Schema,
): Arbitrary<object> {
  const [members] = Object.values(patternProperties)
  const fields = Object.entries(properties).map(([name, schema]) => [name, valueFor(document, schema)] as const)
  const rest = fc.dictionary(anyName, members ? valueFor(document, members) : goodJson, {
    maxKeys: 3,
    noNullPrototype: true,
  })
  return fc.tuple(membersOf(fields, required), rest).map(([known, others]) => ({ ...others, ...known }))
}

function textOf({ format, pattern, minLength = 0, maxLength = 1_000 }: Schema): Arbitrary<string> {
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength
  if (format === 'uuid') return fc.uuid({ version: 4 })
  if (format === 'date-time') {
    const min = new Date('2100-01-01')
    return often(
      9,
      fc.date({ min, max: new Date('9999-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constantFrom(...dateTexts),
    )
  }
  if (pattern) return fc.stringMatching(new RegExp(pattern), { maxLength }).filter(fits)
  return fc.oneof(fc.constantFrom(...goodTexts), fc.string({ minLength, maxLength: 20 })).filter(fits)
}

type Pair = readonly [string, string]
type Pairs = Pair[]

function parameterOf(name: string, schema: Schema, record: Readonly<Record<string, Schema>>): Arbitrary<Pairs> {
  const fields = Object.entries(record)
  const plain = fields.filter(([, { type }]) => type === 'string').map(([field]) => field)
  const joins = fields
    .filter(([, { anyOf, items }]) => [...(anyOf ?? []), items].some((part) => part?.$ref))
    .map(([field]) => field)
  if (name === 'filter') return anyFilter(record)
  if (name === 'fields')
    return listOf(
      name,
      fields.map(([field]) => field).filter((field) => !joins.includes(field)),
    )
  if (name === 'join') return listOf(name, joins)
  if (name === 'sort')
    return listOf(
      name,
      plain.flatMap((field) => [field, `-${field}`, `+${field}`]),
    )
  const { minimum = 0, maximum = 20_000 } = schema
  return fc
    .oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: minimum, max: maximum }))
    .map((n) => [[name, String(n)]])
}

/** All the ways to write a list. */
function listOf(name: string, items: readonly string[]): Arbitrary<Pairs> {
  if (items.length === 0) return fc.constant([[name, '']])
  const list = fc.uniqueArray(fc.constantFrom(...items).map(encode), { minLength: 1, maxLength: 4 })
  return fc.tuple(list, fc.constantFrom('comma', 'repeated', '[]', '[0]')).map(([values, form]): Pairs => {
    if (form === 'comma') return [[name, values.join(',')]]
    return values.map((value, index) => [
      `${name}${form === 'repeated' ? '' : form === '[]' ? '[]' : `[${index}]`}`,
      value,
    ])
  })
}

const comparisons = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$not']
const patterns = ['$like', '$notLike', '$iLike', '$notILike', '$startsWith', '$endsWith', '$substring']
const others = [
  '$is',
  '$contains',
  '$overlap',
  '$bbox',
  '$intersects',
  '$within',
  '$dwithin',
  '$nonsense',
  '$__proto__',
]
const operators = [...comparisons, ...patterns, ...others, '$in', '$notIn', '$between', '$notBetween', '$and', '$or']

/** A filter in its two forms: a deep object, or the JSON text of one. */
function anyFilter(record: Readonly<Record<string, Schema>>): Arbitrary<Pairs> {
  const conditions = Object.entries(record).flatMap(([name, schema]) =>
    conditionsOf(schema).map((condition) => condition.map((inner) => ({ [name]: inner }))),
  )
  if (conditions.length === 0) return fc.constant([])
  const { filter } = fc.letrec<{ filter: object }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      fc.oneof(...conditions),
      fc.record({ $and: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ $not: tie('filter') }),
    ),
  }))
  return fc
    .tuple(filter, fc.boolean())
    .map(([value, isDeep]) => (isDeep ? deepObject('filter', value) : [['filter', encode(JSON.stringify(value))]]))
}

function conditionsOf({ type, format, pattern }: Schema): Arbitrary<unknown>[] {
  const nothing = fc.constantFrom(null, { $is: null }, { $not: null }, { $ne: null })
  if (type === 'object') return [fc.record({ $contains: goodJson }), nothing]
  if (type !== 'string') return []
  const value = textOf({ format, pattern, maxLength: 200 })
  const using = (names: readonly string[], operand: Arbitrary<unknown>) =>
    fc.tuple(fc.constantFrom(...names), operand).map(([name, inner]) => ({ [name]: inner }))
  const known = [
    value,
    nothing,
    using(comparisons, value),
    using(['$in', '$notIn'], fc.array(value, { minLength: 1, maxLength: 3 })),
    using(['$between', '$notBetween'], fc.tuple(value, value)),
  ]
  return format ? known : [...known, using(patterns, value), using(patterns, fc.constantFrom('a%', '%_', '\\%'))]
}

function deepObject(name: string, value: unknown): Pairs {
  if (typeof value !== 'object' || value === null) return [[name, encode(String(value))]]
  return Object.entries(value).flatMap(([key, inner]) => deepObject(`${name}[${encode(key)}]`, inner))
}

/** The same request with one thing wrong with it (or, by luck, still right). */
function withOneFault(draft: Draft): Arbitrary<Draft> {
  const faults: Arbitrary<Draft>[] = [
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
const anyGarbage: Arbitrary<Partial<Draft>> = fc.oneof(
  anyRawBody.map((rawBody) => ({ rawBody })),
  fc
    .tuple(anyRawBody, fc.constantFrom(...contentTypes))
    .map(([rawBody, type]) => ({ rawBody, headers: { 'content-type': type } })),
  fc.array(hostilePair, { maxLength: 5 }).map((query) => ({ query })),
  fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'POST', 'GET', 'PROPFIND').map((method) => ({ method })),
  fc.array(hostileSegment, { maxLength: 4 }).map((segments) => ({ path: `/${segments.join('/')}` })),
  fc.array(hostileSegment, { maxLength: 4 }).map((segments) => ({ path: `/api/v1/styles/${segments.join('/')}` })),
)

/** Percent-encoded; the marks of a placeholder stay as they are. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
