/**
 * The size of a style, checked before a thread validates it: MapLibre's validation takes 25 µs for each value of an expression,
 * and for layers that share an id as many messages as there are pairs of them (1 000 layers: 500 000, 1.7 s).
 */
import { faulty, invalid } from '../../../kernel/errors.ts'
import { limits, overLimit, type RefusingLimit } from '../../../kernel/limits/limits.ts'

const maxText = 10_000
const maxIdText = 1_000

/** Throws a 400 that names the path of what is too large. */
export function checkStyleSize(style: unknown, path = 'body/style'): void {
  if (!isObject(style)) return
  const size = new StyleSize()
  const { layers, sources, ...rest } = style
  if (isObject(sources)) checkSources(size, sources, `${path}/sources`)
  if (Array.isArray(layers)) checkLayers(size, layers, `${path}/layers`)
  for (const [name, part] of Object.entries(rest)) size.add(part, below(path, name))
}

function checkSources(size: StyleSize, sources: JsonObject, path: string): void {
  const names = Object.keys(sources)
  if (names.length > limits.styleSources.value) throw over('styleSources', path, 'sources')
  // The address of an image may be the image itself, and data may be inside: texts of any length.
  for (const name of names) size.add(sources[name], below(path, name), { maxText: Number.POSITIVE_INFINITY })
}

function checkLayers(size: StyleSize, layers: readonly unknown[], path: string): void {
  if (layers.length > limits.styleLayers.value) throw over('styleLayers', path, 'layers')
  const indexes = new Map<unknown, number>()
  for (const [index, layer] of layers.entries()) {
    const at = `${path}/${index}`
    if (!isObject(layer)) throw faulty([{ path: at, code: 'style', message: 'must be an object' }])
    const { id } = layer
    const earlier = id === undefined ? undefined : indexes.get(id)
    if (earlier !== undefined) throw sameId(at, earlier)
    indexes.set(id, index)
    checkLayer(size, layer, at)
  }
}

function checkLayer(size: StyleSize, { filter, layout, paint, ...rest }: JsonObject, path: string): void {
  if (typeof rest.id === 'string' && rest.id.length > maxIdText) throw tooLong(`${path}/id`, maxIdText)
  size.add(rest, path)
  size.add(filter, `${path}/filter`, expression)
  for (const [group, members] of Object.entries({ layout, paint })) {
    if (!isObject(members)) continue
    for (const [name, value] of Object.entries(members)) size.add(value, below(`${path}/${group}`, name), expression)
  }
}

const sameId = (path: string, earlier: number) =>
  faulty([{ path: `${path}/id`, code: 'style', message: `must differ from that of layers/${earlier}` }])

type Bounds = { readonly isExpression?: boolean; readonly maxText?: number }

const expression: Bounds = { isExpression: true }

/** Counts the values of a style, part by part. */
class StyleSize {
  #values = 0

  /** Iterative, because the sender chooses the depth. */
  add(root: unknown, path: string, { isExpression = false, maxText: longest = maxText }: Bounds = {}): void {
    const mostHere = isExpression ? this.#values + limits.expressionValues.value : Number.POSITIVE_INFINITY
    const mostDepth = isExpression ? limits.expressionDepth.value : Number.POSITIVE_INFINITY
    const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }]
    for (let part = pending.pop(); part; part = pending.pop()) {
      const { value, depth } = part
      this.#values += 1
      if (this.#values > mostHere) throw over('expressionValues', path, 'values')
      if (this.#values > limits.styleValues.value) throw over('styleValues', 'body/style', 'values')
      if (depth > mostDepth) throw over('expressionDepth', path, 'levels')
      if (typeof value === 'string' && value.length > longest) throw tooLong(path, longest)
      for (const inner of partsOf(value)) pending.push({ value: inner, depth: depth + 1 })
    }
  }
}

const partsOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const below = (path: string, name: string): string => `${path}/${name.slice(0, 64)}`

const tooLong = (path: string, most: number) => invalid(path, `must not have texts of more than ${most} characters`)

type StyleLimit = RefusingLimit & (`style${string}` | `expression${string}`)

function over(name: StyleLimit, path: string, noun: string) {
  const { value } = limits[name]
  return overLimit(name, value, `must not have more than ${value} ${noun}`, { path })
}
