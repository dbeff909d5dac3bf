import fc, { type Arbitrary } from 'fast-check'
import { anyName, encode, goodJson } from '../hostile/hostile-values.ts'
import {
  type Document,
  type DocumentedOperation,
  type MediaTypes,
  operationsOf,
  recordOf,
  resourceOf,
  type SchemaFields,
} from './api-document.ts'
import { type Principal, type RawRequest, type RequestDraft, written } from './draft.ts'
import { type Pairs, parameterOf } from './query-parameters.ts'
import { anyGarbage, withOneFault } from './request-faults.ts'
import { type Hint, hintFor } from './request-hints.ts'
import { membersOf, often, valueFor } from './schema-values.ts'

/** Requests to every operation of the document: some 60 % valid, 30 % with one fault, 10 % garbage. */
export function anyRequest(
  document: Document,
  principals: readonly (readonly [number, Principal])[],
): Arbitrary<RawRequest> {
  const drafts = principals.map(([weight, principal]) => {
    const operations = operationsOf(document).map((operation) => ({
      // What takes neither parameters nor a body has little to go wrong.
      weight: operation.entry.parameters.length > 0 || operation.entry.requestBody ? 5 : 1,
      arbitrary: requestTo(document, operation, principal),
    }))
    return { weight, arbitrary: fc.oneof(...operations) }
  })
  return fc.oneof(...drafts).map(written)
}

function requestTo(document: Document, operation: DocumentedOperation, principal: Principal): Arbitrary<RequestDraft> {
  const valid = validDraft(document, operation, principal)
  const { avoids } = hintFor(operation.entry)
  const drafts = fc.oneof(
    { weight: 6, arbitrary: valid },
    { weight: 3, arbitrary: valid.chain(withOneFault) },
    { weight: 1, arbitrary: fc.tuple(valid, anyGarbage).map(([draft, garbage]) => ({ ...draft, ...garbage })) },
  )
  return avoids ? drafts.filter((draft) => !avoids(draft)) : drafts
}

/** The plainest requests to an operation: nothing that can be left out, and the body of the example. */
export function plainRequest(operation: DocumentedOperation, principal: Principal): Arbitrary<RawRequest> {
  const { method, path, entry } = operation
  const { bodies: [fitting] = [], forms: [form] = [], headers, avoids } = hintFor(entry)
  const [type = '', content] = contentOf(operation)
  const references = membersOf(Object.entries(referencesIn(content, principal)))
  return fc
    .record({
      params: paramsOf(operation, principal),
      credential: credentialOf(principal),
      references,
      query: needed(hintFor(entry)),
    })
    .map(({ params, credential, references, query }): RequestDraft => {
      const draft = {
        method,
        path,
        params,
        ...credential,
        headers: { ...credential.headers, ...headers },
        query: [...query, ...credential.query],
      }
      if (!content) return draft
      if (!isJson(type)) {
        const sent = form ? formBody(form) : otherBody(type, content.example)
        return { ...draft, ...sent, headers: { ...draft.headers, ...sent.headers } }
      }
      const isWhole = typeof content.example === 'object' && content.example !== null
      return { ...draft, body: isWhole ? { ...references, ...content.example, ...fitting } : (content.example ?? null) }
    })
    .filter((draft) => !avoids?.(draft))
    .map(written)
}

/** The query parameters that the operation cannot do without. */
function needed({ needs = [], parameters = {} }: Partial<Hint>): Arbitrary<Pairs> {
  return fc.tuple(
    ...needs.map((name) => fc.constantFrom(...(parameters[name] ?? [])).map((value): Pairs[number] => [name, value])),
  )
}

function validDraft(document: Document, operation: DocumentedOperation, principal: Principal): Arbitrary<RequestDraft> {
  const { path, method, entry } = operation
  const { record = recordOf(document, entry), parameters = {} } = hintFor(entry)
  const named = (place: string) => entry.parameters.filter((parameter) => parameter.in === place)
  const query = named('query').map(({ name, schema }): [string, Arbitrary<Pairs>] => {
    const known = parameters[name]?.map((value): Pairs => [[name, value]])
    return [name, known ? fc.constantFrom(...known) : parameterOf(name, schema, record)]
  })
  const conditions = named('header').map(({ name }) => [name.toLowerCase(), anyTag] as const)
  return fc
    .record({
      params: paramsOf(operation, principal),
      query: membersOf(query).map((pairs) => Object.values(pairs).flat()),
      conditions: often(4, fc.constant({}), membersOf(conditions)),
      credential: credentialOf(principal),
      body: bodyOf(operation, record, principal),
    })
    .map(
      ({ params, query, conditions, credential, body }): RequestDraft => ({
        method,
        path,
        params,
        ...body,
        query: [...query, ...credential.query],
        headers: { ...body.headers, ...conditions, ...credential.headers, ...hintFor(entry).headers },
      }),
    )
}

function paramsOf(
  { path, method, entry }: DocumentedOperation,
  principal: Principal,
): Arbitrary<Record<string, string>> {
  const resource = resourceOf(path)
  // Also to delete a key of metadata: with `..` for the key, the address is the record's.
  const ids = (method === 'DELETE' ? principal.expendable : principal.ids)[resource] ?? []
  const { parameters = {} } = hintFor(entry)
  const params = entry.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, schema }): [string, Arbitrary<string>] => {
      const known = parameters[name]
      if (known) return [name, fc.constantFrom(...known)]
      if (schema.type === 'integer') return [name, fc.oneof(fc.nat(3), fc.nat(1_000)).map(String)]
      return [name, segmentOf(name, ids)]
    })
  return fc.record(Object.fromEntries(params))
}

function segmentOf(name: string, ids: readonly string[]): Arbitrary<string> {
  const keys = fc.constantFrom('colour', 'colour', 'colour.hex', 'list', 'list.0', 'a.b.c')
  if (name !== 'id') return often(3, keys, anyName.filter((text) => text !== '').map(encode))
  return ids.length > 0 ? often(9, fc.constantFrom(...ids), fc.uuid({ version: 4 })) : keys
}

const anyTag = fc.constantFrom('*', '"1"', '"2"', 'W/"1"', '"1", "2"', '"99999999999999999999"', '""')

function credentialOf({ keys, applications }: Principal): Arbitrary<Pick<RequestDraft, 'query' | 'headers'>> {
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

type Body = Pick<RequestDraft, 'body' | 'rawBody'> & { readonly headers?: Record<string, string> }

/** A body by its schema. Where the example has a value it is mostly taken: schemas do not tell all that makes a style. */
function bodyOf(operation: DocumentedOperation, record: SchemaFields, principal: Principal): Arbitrary<Body> {
  const [type = '', content] = contentOf(operation)
  if (!content) return fc.constant({})
  const { schema, example } = content
  if (!isJson(type)) {
    const bytes = fc.uint8Array({ maxLength: 1_000 })
    const { forms = [] } = hintFor(operation.entry)
    const known = forms.length > 0 ? forms.map(formBody) : [otherBody(type, example)]
    return often(
      2,
      fc.constantFrom(...known),
      bytes.map((body) => otherBody(type, body)),
    )
  }
  const { properties = {}, required = [] } = schema
  const names = Object.keys(properties)
  if (names.length === 0) {
    const value = example === undefined ? goodJson : often(1, fc.constant(example), valueFor(schema))
    return value.map((body) => ({ body }))
  }
  const examples = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>
  const references = referencesIn(content, principal)
  const fields = names.map((name): [string, Arbitrary<unknown>] => {
    const reference = references[name]
    if (reference) return [name, reference]
    // A merge patch takes anything at first; what it makes has to fit the record.
    const own = properties[name] ?? {}
    const value = valueFor(own.type || own.anyOf || own.enum || own.readOnly ? own : (record[name] ?? {}))
    return [name, Object.hasOwn(examples, name) ? often(4, fc.constant(examples[name]), value) : value]
  })
  const { bodies = [] } = hintFor(operation.entry)
  const fitting = fc.constantFrom(...bodies, {})
  return fc.tuple(membersOf(fields, required), fitting).map(([drawn, known]) => ({ body: { ...drawn, ...known } }))
}

/** The members that name another record: `databaseId` is one of the databases. */
function referencesIn(
  content: MediaTypes[string] | undefined,
  principal: Principal,
): Record<string, Arbitrary<string>> {
  const names = Object.keys(content?.schema.properties ?? {})
  return Object.fromEntries(
    names.flatMap((name) => {
      const ids = name.endsWith('Id') ? principal.references[`${name.slice(0, -2)}s`] : undefined
      return ids ? [[name, fc.constantFrom(...ids)]] : []
    }),
  )
}

const contentOf = ({ entry }: DocumentedOperation) => Object.entries(entry.requestBody?.content ?? {})[0] ?? []
const isJson = (type: string): boolean => /[/+]json$/.test(type)
const otherBody = (type: string, body: unknown): Body => ({
  rawBody: body instanceof Uint8Array ? body : String(body ?? ''),
  headers: { 'content-type': type },
})

const boundary = 'the-end-of-a-part'

function formBody(fields: Readonly<Record<string, string>>): Body {
  const parts = Object.entries(fields).map(([name, text]) => {
    const file = name === 'file' ? '; filename="sent.csv"' : ''
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return otherBody(`multipart/form-data; boundary=${boundary}`, `${parts.join('')}--${boundary}--\r\n`)
}
