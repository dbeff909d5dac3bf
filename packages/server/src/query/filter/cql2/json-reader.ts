// Reader of CQL2 JSON: checks its structure and turns it into the syntax tree.
import { below, show } from '../../values/fault.ts'
import { asObject } from '../operand.ts'
import { type Budget, checkDepth, countNode, type JsonPath, type Node, refuse } from './syntax.ts'

/** Reads a CQL2 JSON filter to its syntax tree. */
export function readJson(value: unknown, path: string): Node {
  return readNode({ nodes: 0 }, value, { path }, 1)
}

function readNode(budget: Budget, value: unknown, jsonPath: JsonPath, depth: number): Node {
  checkDepth(depth, jsonPath)
  countNode(budget, jsonPath)
  if (typeof value === 'string') return { kind: 'string', text: value, pattern: value, jsonPath }
  if (typeof value === 'boolean') return { kind: 'boolean', value, jsonPath }
  if (typeof value === 'number') return { kind: 'number', text: String(value), jsonPath }
  if (Array.isArray(value)) return { kind: 'array', items: readList(budget, value, jsonPath, depth), jsonPath }
  if (!asObject(value)) {
    throw refuse(jsonPath, 'invalid_value', `must be a CQL2 expression, not ${show(value)}; null is tested by "isNull"`)
  }
  return readObject(budget, value, jsonPath, depth)
}

type Members = Readonly<Record<string, unknown>>

function readObject(budget: Budget, value: Members, jsonPath: JsonPath, depth: number): Node {
  if (Object.hasOwn(value, 'op')) return readCall(budget, value, jsonPath, depth)
  if (Object.hasOwn(value, 'property')) {
    return { kind: 'property', name: textOf(value, 'property', jsonPath), jsonPath: inside(jsonPath, 'property') }
  }
  if (Object.hasOwn(value, 'date')) return { kind: 'date', text: textOf(value, 'date', jsonPath), jsonPath }
  if (Object.hasOwn(value, 'timestamp'))
    return { kind: 'timestamp', text: textOf(value, 'timestamp', jsonPath), jsonPath }
  if (Object.hasOwn(value, 'interval')) {
    return { kind: 'interval', args: readArguments(budget, value, 'interval', jsonPath, depth), jsonPath }
  }
  if (Object.hasOwn(value, 'type')) return { kind: 'geometry', value, jsonPath }
  if (Object.hasOwn(value, 'bbox')) return { kind: 'bbox', numbers: numbersOf(value, jsonPath), jsonPath }
  throw refuse(
    jsonPath,
    'invalid_value',
    'must have one of the members op, property, date, timestamp, interval, bbox, or be a GeoJSON geometry',
  )
}

function readCall(budget: Budget, value: Members, jsonPath: JsonPath, depth: number): Node {
  const name = textOf(value, 'op', jsonPath).toLowerCase()
  return { kind: 'call', name, args: readArguments(budget, value, 'args', jsonPath, depth), jsonPath }
}

function readArguments(budget: Budget, value: Members, member: string, jsonPath: JsonPath, depth: number): Node[] {
  const args = value[member]
  if (!Array.isArray(args)) throw refuse(inside(jsonPath, member), 'invalid_value', `must be a list, not ${show(args)}`)
  return readList(budget, args, inside(jsonPath, member), depth)
}

const readList = (budget: Budget, list: readonly unknown[], jsonPath: JsonPath, depth: number): Node[] =>
  list.map((item, index) => readNode(budget, item, inside(jsonPath, index), depth + 1))

function textOf(value: Members, member: string, jsonPath: JsonPath): string {
  const text = value[member]
  if (typeof text !== 'string')
    throw refuse(inside(jsonPath, member), 'invalid_value', `must be a string, not ${show(text)}`)
  return text
}

function numbersOf(value: Members, jsonPath: JsonPath): readonly number[] {
  const { bbox } = value
  if (!Array.isArray(bbox) || !bbox.every((item) => typeof item === 'number')) {
    throw refuse(inside(jsonPath, 'bbox'), 'invalid_value', 'must be a list of numbers: west, south, east, north')
  }
  return bbox
}

const inside = ({ path }: JsonPath, key: string | number): JsonPath => ({ path: below(path, key) })
