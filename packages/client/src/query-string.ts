// The query string serializer: lists with commas, dates in ISO 8601, objects in brackets or as JSON.

type Scalar = string | number | boolean | Date

/** `?a=1&filter[name][$like]=b%25`, or an empty string. Undefined and null values are omitted. */
export function queryString(params: object): string {
  const pairs = Object.entries(params).flatMap(([name, value]) => pairsOf(name, value))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function pairsOf(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (isScalar(value)) return [pair(name, value)]
  if (Array.isArray(value)) return [pair(name, value.map(textOf).join(','))]
  return bracketPairs(name, value) ?? [pair(name, JSON.stringify(value))]
}

/**
 * `filter[name]=x` and `filter[name][$gte]=3`. Brackets can only hold text; null, lists and deeper nesting are sent as
 * JSON, which keeps their types.
 */
function bracketPairs(name: string, value: object): string[] | undefined {
  const leaves = leavesOf(value)
  const isCarried = leaves.every(([path, leaf]) => isScalar(leaf) && path.every((part) => /^[^[\]]+$/.test(part)))
  return isCarried ? leaves.map(([path, leaf]) => pair(`${name}[${path.join('][')}]`, leaf)) : undefined
}

/** The values of `filter[name]` and `filter[name][$operator]`. */
const leavesOf = (filter: object): [path: string[], leaf: unknown][] =>
  present(filter).flatMap(([key, condition]): [string[], unknown][] =>
    hasOperators(condition)
      ? present(condition).map(([operator, operand]) => [[key, operator], operand])
      : [[[key], condition]],
  )

const hasOperators = (condition: unknown): condition is object =>
  typeof condition === 'object' && condition?.constructor === Object && present(condition).length > 0

const present = (value: object): [string, unknown][] => Object.entries(value).filter(([, one]) => one !== undefined)

const isScalar = (value: unknown): value is Scalar =>
  value instanceof Date || ['string', 'number', 'boolean', 'bigint'].includes(typeof value)

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/** Brackets and $ are not escaped, which is safe in a query string and easier to read. */
const pair = (name: string, value: unknown): string => `${encode(name)}=${encode(textOf(value))}`

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/%(5B|5D|24|2C|3A)/g, (sequence) => decodeURIComponent(sequence))
