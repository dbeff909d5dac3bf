/**
 * Values that are larger than their schema allows: lists, objects and texts. They are looked for before the schema library
 * explains what else is wrong, because it explains every part of a value: 340 000 faulty items took it 0.6 s, though only
 * the first faults are told.
 */
import type { TSchema } from 'typebox'
import { type Fault, maxFaults } from '../errors.ts'
import { unknownName } from '../nearest-name.ts'

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
}

/** What is larger by less than this the schema library explains, together with what else is wrong. */
const slack = 1_000

/** The first values that are far too large; nothing inside of them is looked at. */
export function oversized(schema: TSchema, value: unknown, where: string): Fault[] {
  const faults: Fault[] = []
  for (const fault of search(schema as Part, value, where)) {
    faults.push(fault)
    if (faults.length === maxFaults) break
  }
  return faults
}

function* search(schema: Part, value: unknown, path: string): Generator<Fault> {
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

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)

/** A value that is too large for each branch is too large for all. */
function excessOf(branches: readonly Part[], value: unknown): Omit<Fault, 'path'> | undefined {
  const most = (bound: 'maxItems' | 'maxProperties' | 'maxLength') =>
    Math.max(...branches.map((branch) => branch[bound] ?? Number.POSITIVE_INFINITY))
  const over = (code: 'maxItems' | 'maxProperties' | 'maxLength', size: number, noun: string) =>
    size > most(code) + slack ? { code, message: `must not have more than ${most(code)} ${noun}` } : undefined
  if (Array.isArray(value)) return over('maxItems', value.length, 'items')
  // A character beyond the 16-bit ones counts once and is two units of the text.
  if (typeof value === 'string') return over('maxLength', value.length / 2, 'characters')
  return over('maxProperties', Object.keys(value as object).length, 'properties')
}

function* searchItems({ items }: Part, list: readonly unknown[], path: string): Generator<Fault> {
  if (!items) return
  for (const [index, item] of list.entries()) yield* search(items, item, `${path}/${index}`)
}

function* searchProperties(schema: Part, value: object, path: string): Generator<Fault> {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema
  const names = Object.keys(value)
  const isKnown = (name: string) => Object.hasOwn(properties, name)
  const [others] = Object.values(patternProperties)
  if (additionalProperties === false && !others && names.length > Object.keys(properties).length + maxFaults) {
    const known = Object.keys(properties).filter((name) => !properties[name]?.readOnly)
    for (const name of names.filter((one) => !isKnown(one)).slice(0, maxFaults)) {
      yield {
        path: `${path}/${name.slice(0, 64)}`,
        code: 'unknown',
        message: unknownName('a known field', name, known),
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
