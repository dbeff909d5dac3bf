/**
 * Values that are larger than their schema allows: lists, objects and texts. They are looked for before the schema library
 * explains what else is wrong, because it explains every part of a value: 340 000 faulty items took it 0.6 s, though only
 * the first faults are told.
 */
import type { TSchema } from 'typebox'
import { type Fault, maxFaults } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'

/** What of a JSON Schema bounds a value, or leads to its parts. */
type Part = {
  readonly type?: string
  readonly anyOf?: readonly Part[]
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly maxLength?: number
  readonly items?: Part
  readonly properties?: Readonly<Record<string, Part & { readonly readOnly?: boolean }>>
  readonly patternProperties?: Readonly<Record<string, Part>>
  readonly additionalProperties?: boolean | Part
  /** The limit of limits.ts that the bound is. */
  readonly 'x-limit'?: { readonly name?: string }
}

type Bound = 'maxItems' | 'maxProperties' | 'maxLength'

/** What is too large, and the limit that the answer names. */
type Oversized = { readonly faults: readonly Fault[]; readonly limit?: Record<string, unknown> }

type Excess = Fault & { readonly limit?: Record<string, unknown> | undefined }

/** What is larger by less than this the schema library explains, together with what else is wrong. */
const slack = 1_000

/** The first values that are far too large; nothing inside of them is looked at. */
export function oversized(schema: TSchema, value: unknown, where: string): Oversized {
  const excesses: Excess[] = []
  for (const excess of search(schema as Part, value, where)) {
    excesses.push(excess)
    if (excesses.length === maxFaults) break
  }
  const limit = excesses.find((excess) => excess.limit)?.limit
  return { faults: excesses, ...(limit && { limit }) }
}

function* search(schema: Part, value: unknown, path: string): Generator<Excess> {
  const fitting = branchesOf(schema).filter(({ type }) => type === typeOf(value))
  if (fitting.length === 0) return
  const excess = excessOf(fitting, value)
  if (excess) return yield { path, ...excess }
  const [only] = fitting
  if (!only || fitting.length > 1 || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) yield* searchItems(only, value, path)
  else yield* searchProperties(only, value, path)
}

const branchesOf = (schema: Part): readonly Part[] => schema.anyOf?.flatMap(branchesOf) ?? [schema]

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** A value that is too large for each branch is too large for all. */
function excessOf(branches: readonly Part[], value: unknown): Omit<Excess, 'path'> | undefined {
  const name = branches[0]?.['x-limit']?.name
  const over = (code: Bound, size: number, noun: string) => {
    const most = Math.max(...branches.map((branch) => branch[code] ?? Number.POSITIVE_INFINITY))
    if (size <= most + slack) return undefined
    const limit = name === undefined ? undefined : { limit: most, limitName: name }
    return { code, message: `must not have more than ${most} ${noun}`, limit }
  }
  if (Array.isArray(value)) return over('maxItems', value.length, 'items')
  // A character beyond the 16-bit ones counts once and is two units of the text.
  if (typeof value === 'string') return over('maxLength', value.length / 2, 'characters')
  return typeof value === 'object' && value !== null
    ? over('maxProperties', Object.keys(value).length, 'properties')
    : undefined
}

function* searchItems({ items }: Part, list: readonly unknown[], path: string): Generator<Excess> {
  if (!items) return
  for (const [index, item] of list.entries()) yield* search(items, item, `${path}/${index}`)
}

function* searchProperties(schema: Part, value: object, path: string): Generator<Excess> {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema
  const names = Object.keys(value)
  const isKnown = (name: string) => Object.hasOwn(properties, name)
  const [others] = Object.values(patternProperties)
  if (additionalProperties === false && !others && names.length > Object.keys(properties).length + maxFaults) {
    const writable = Object.keys(properties).filter((name) => !properties[name]?.readOnly)
    for (const name of names.filter((one) => !isKnown(one)).slice(0, maxFaults)) {
      yield {
        path: `${path}/${name.slice(0, 64)}`,
        code: 'unknown',
        message: unknownName('a known field', name, writable),
      }
    }
    return
  }
  const rest = others ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  for (const name of names) {
    const inner = isKnown(name) ? properties[name] : rest
    if (inner) yield* search(inner, Reflect.get(value, name), `${path}/${name.slice(0, 64)}`)
  }
}
