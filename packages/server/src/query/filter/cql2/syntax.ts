// Syntax tree of CQL2: what both encodings, text and JSON, parse into before names and types are known.
import type { ApiError } from '../../../kernel/errors.ts'
import { fault } from '../../values/fault.ts'

/** Where a node stands: a path for programs, and in text the character, which starts at 1. */
export type JsonPath = { readonly path: string; readonly character?: number }

/** A node of the syntax tree. Operators and functions have the names of the JSON encoding, in lower case. */
export type Node = {
  readonly jsonPath: JsonPath
  /** In text, how many brackets stand around it: in arrays each makes an array of one. */
  readonly brackets?: number
} & (
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: 'property'; readonly name: string }
  /** `pattern` is the same text as a pattern of LIKE, in which a backslash still escapes. */
  | { readonly kind: 'string'; readonly text: string; readonly pattern: string }
  /** The text of a number, so that no digit is lost. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'date' | 'timestamp'; readonly text: string }
  | { readonly kind: 'interval'; readonly args: readonly Node[] }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  /** GeoJSON whose structure is not checked yet. */
  | { readonly kind: 'geometry'; readonly value: unknown }
  | { readonly kind: 'bbox'; readonly numbers: readonly number[] }
)

export type FunctionCall = Extract<Node, { kind: 'call' }>

/** Limits on hostile input; positions of geometries have their own. */
const bounds = { depth: 32, nodes: 2000, characters: 2_000_000 }

/** Counts what a parser makes, so that it stops early. */
export type Budget = { nodes: number }

export function refuse(jsonPath: JsonPath, code: string, message: string): ApiError {
  const where = jsonPath.character === undefined ? '' : `character ${jsonPath.character}: `
  return fault(jsonPath.path, code, `${where}${message}`)
}

export function countNode(budget: Budget, jsonPath: JsonPath): void {
  budget.nodes += 1
  if (budget.nodes > bounds.nodes) {
    throw refuse(jsonPath, 'too_many_nodes', `must not have more than ${bounds.nodes} operators, names and values`)
  }
}

export function checkDepth(depth: number, jsonPath: JsonPath): void {
  if (depth > bounds.depth) throw refuse(jsonPath, 'too_deep', `must not nest deeper than ${bounds.depth} levels`)
}

export function checkLength(text: string, jsonPath: JsonPath): void {
  if (text.length > bounds.characters) {
    throw refuse(jsonPath, 'too_long', `must not be longer than ${bounds.characters} characters`)
  }
}
