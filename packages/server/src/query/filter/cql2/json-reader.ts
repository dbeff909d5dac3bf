// Reader of CQL2 JSON: checks its structure and turns it into the syntax tree.
import { below, show } from '../../values/fault.ts'
import { asObject } from '../operand.ts'
import { type Budget, checkDepth, countNode, type Node, type Place, refuse } from './syntax.ts'

/** Reads a CQL2 JSON filter to its syntax tree. */
export function readJson(value: unknown, path: string): Node {
  return readNode({ nodes: 0 }, value, { path }, 1)
}

function readNode(budget: Budget, value: unknown, place: Place, depth: number): Node {
  checkDepth(depth, place)
  countNode(budget, place)
  if (typeof value === 'string') return { kind: 'string', text: value, pattern: value, place }
  if (typeof value === 'boolean') return { kind: 'boolean', value, place }
  if (typeof value === 'number') return { kind: 'number', text: String(value), place }
  if (Array.isArray(value)) return { kind: 'array', items: readList(budget, value, place, depth), place }
  if (!asObject(value)) {
    throw refuse(place, 'invalid_value', `must be a CQL2 expression, not ${show(value)}; null is tested by "isNull"`)
  }
  return readObject(budget, value, place, depth)
}

type Members = Readonly<Record<string, unknown>>

function readObject(budget: Budget, value: Members, place: Place, depth: number): Node {
  if (Object.hasOwn(value, 'op')) return readCall(budget, value, place, depth)
  if (Object.hasOwn(value, 'property')) {
    return { kind: 'property', name: textOf(value, 'property', place), place: inside(place, 'property') }
  }
  if (Object.hasOwn(value, 'date')) return { kind: 'date', text: textOf(value, 'date', place), place }
  if (Object.hasOwn(value, 'timestamp')) return { kind: 'timestamp', text: textOf(value, 'timestamp', place), place }
  if (Object.hasOwn(value, 'interval')) {
    return { kind: 'interval', args: readArguments(budget, value, 'interval', place, depth), place }
  }
  if (Object.hasOwn(value, 'type')) return { kind: 'geometry', value, place }
  if (Object.hasOwn(value, 'bbox')) return { kind: 'bbox', numbers: numbersOf(value, place), place }
  throw refuse(
    place,
    'invalid_value',
    'must have one of the members op, property, date, timestamp, interval, bbox, or be a GeoJSON geometry',
  )
}

function readCall(budget: Budget, value: Members, place: Place, depth: number): Node {
  const name = textOf(value, 'op', place).toLowerCase()
  return { kind: 'call', name, args: readArguments(budget, value, 'args', place, depth), place }
}

function readArguments(budget: Budget, value: Members, member: string, place: Place, depth: number): Node[] {
  const args = value[member]
  if (!Array.isArray(args)) throw refuse(inside(place, member), 'invalid_value', `must be a list, not ${show(args)}`)
  return readList(budget, args, inside(place, member), depth)
}

const readList = (budget: Budget, list: readonly unknown[], place: Place, depth: number): Node[] =>
  list.map((item, index) => readNode(budget, item, inside(place, index), depth + 1))

function textOf(value: Members, member: string, place: Place): string {
  const text = value[member]
  if (typeof text !== 'string')
    throw refuse(inside(place, member), 'invalid_value', `must be a string, not ${show(text)}`)
  return text
}

function numbersOf(value: Members, place: Place): readonly number[] {
  const { bbox } = value
  if (!Array.isArray(bbox) || !bbox.every((item) => typeof item === 'number')) {
    throw refuse(inside(place, 'bbox'), 'invalid_value', 'must be a list of numbers: west, south, east, north')
  }
  return bbox
}

const inside = ({ path }: Place, key: string | number): Place => ({ path: below(path, key) })
