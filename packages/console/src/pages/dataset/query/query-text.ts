/**
 * Parses, checks and completes queries written as JSON. The checks use the dataset's attributes before the query is sent;
 * the server checks everything again.
 */
import type { DatasetQuery, JsonObject } from '@graticule/client'
import type { Word } from '../../../components/code-editor/completion.ts'
import { type Diagnostic, jsonFaults } from '../../../components/code-editor/json-tree.ts'
import { prettyJson } from '../../../components/code-editor/pretty-json.ts'
import type { DatasetAttribute } from '../dataset.ts'
import { aggregates, logic, operatorsOf, operatorWords, queryFields } from './query-grammar.ts'

export interface ReadQuery {
  /** Undefined if the text is not a query. */
  query: DatasetQuery | undefined
  diagnostics: Diagnostic[]
}

/** Formats a query with one member per line. */
export const queryText = (query: object): string => {
  const parts = Object.entries(query).map(([name, value]) => `  ${JSON.stringify(name)}: ${prettyJson(value, 2)}`)
  return `{\n${parts.join(',\n')}\n}`
}

type Attributes = readonly Pick<DatasetAttribute, 'name' | 'type'>[]

export function readQuery(text: string, attributes: Attributes): ReadQuery {
  if (!text.trim()) return { query: {}, diagnostics: [] }
  const faults = jsonFaults(text)
  if (faults.length > 0) return { query: undefined, diagnostics: faults }
  const query = JSON.parse(text) as unknown
  if (!isObject(query)) {
    return { query: undefined, diagnostics: [error('', 'A query is an object: { "where": { … } }.')] }
  }
  return { query: query as DatasetQuery, diagnostics: checkQuery(query, attributes) }
}

/** Checks a query against the dataset's attributes. */
function checkQuery(query: JsonObject, attributes: Attributes): Diagnostic[] {
  const fields = Object.keys(query)
    .filter((name) => !queryFields.has(name))
    .map((name) => error(name, `“${name}” is not part of a query. Allowed: ${[...queryFields.keys()].join(', ')}.`))
  return [
    ...fields,
    ...listFaults(query, 'attributes', (text) => columnFault(text, attributes)),
    ...listFaults(query, 'group', (text) => nameFault(text, attributes)),
    ...listFaults(query, 'distinct', (text) => nameFault(text, attributes)),
    ...(query.where === undefined ? [] : whereFaults(query.where, attributes, 'where')),
  ]
}

function listFaults(query: JsonObject, field: string, faultOf: (text: string) => string | undefined): Diagnostic[] {
  const list = query[field]
  if (list === undefined) return []
  if (!Array.isArray(list)) return [error(field, `“${field}” is a list: [ … ].`)]
  return list.flatMap((item, index) => {
    const fault = typeof item === 'string' ? faultOf(item) : 'A name in double quotes is expected.'
    return fault ? [error(`${field}/${index}`, fault)] : []
  })
}

const nameFault = (name: string, attributes: Attributes): string | undefined =>
  attributes.some((attribute) => attribute.name === name)
    ? undefined
    : `“${name}” is not an attribute. Allowed: ${shortList(attributes.map((attribute) => attribute.name))}.`

/** `name`, `name as alias`, `sum(name)`, `count(*)`, `count(distinct name) as alias` */
function columnFault(text: string, attributes: Attributes): string | undefined {
  if (!nameFault(text, attributes)) return undefined
  const expression = text.replace(/\s+as\s+.+$/i, '')
  const [, call, inside = ''] = /^\s*(\w+)\s*\(\s*(.*?)\s*\)\s*$/.exec(expression) ?? []
  if (call === undefined) return nameFault(expression, attributes)
  if (!aggregates.includes(call.toLowerCase())) {
    return `“${call}” is not an aggregate. Allowed: ${aggregates.join(', ')}.`
  }
  return inside === '*' ? undefined : nameFault(inside.replace(/^distinct\s+/i, ''), attributes)
}

function whereFaults(where: unknown, attributes: Attributes, path: string): Diagnostic[] {
  if (!isObject(where)) return [error(path, 'Conditions are an object: { "attribute": value }.')]
  return Object.entries(where).flatMap(([name, value]) => {
    const place = `${path}/${name}`
    if (logic.includes(name)) return logicFaults(value, attributes, place)
    const attribute = attributes.find((one) => one.name === name)
    const fault = nameFault(name, attributes)
    return attribute ? conditionFaults(value, attribute.type, place) : [error(place, fault ?? '')]
  })
}

const logicFaults = (value: unknown, attributes: Attributes, path: string): Diagnostic[] =>
  Array.isArray(value)
    ? value.flatMap((one, index) => whereFaults(one, attributes, `${path}/${index}`))
    : whereFaults(value, attributes, path)

function conditionFaults(value: unknown, type: DatasetAttribute['type'], path: string): Diagnostic[] {
  if (!isObject(value)) return []
  const operators = operatorsOf(type)
  return Object.keys(value)
    .filter((name) => name.startsWith('$') && !operators.includes(name) && !logic.includes(name))
    .map((name) =>
      error(`${path}/${name}`, `${name} does not apply to type ${type}. Allowed: ${shortList(operators)}.`),
    )
}

/** The completions: attributes with their types, members of a query, operators, aggregates. */
export const queryWords = (attributes: Attributes): Word[] => [
  ...attributes.map(({ name, type }) => ({ label: name, detail: type, type: 'property' })),
  ...[...queryFields].map(([label, detail]) => ({ label, detail, type: 'keyword' })),
  ...operatorWords,
  ...aggregates.map((name) => ({ label: `${name}(`, detail: 'aggregate', type: 'function' })),
]

/** Caps the query's limit. */
export const withLimit = (query: DatasetQuery, limit: number): DatasetQuery => ({
  ...query,
  limit: Math.min(query.limit ?? limit, limit),
})

const mostShown = 12

const shortList = (names: readonly string[]): string =>
  names.length > mostShown
    ? `${names.slice(0, mostShown).join(', ')} … and ${names.length - mostShown} more`
    : names.join(', ')

const error = (path: string, message: string): Diagnostic => ({ path, message, severity: 'error' })

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
