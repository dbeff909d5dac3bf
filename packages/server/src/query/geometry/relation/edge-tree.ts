import { ApiError } from '../../../kernel/errors.ts'
import { mortonCodes } from './morton-code.ts'

/**
 * A packed R-tree over edges: finds those that meet a box, or that a ray crosses, without looking at all of them. Nodes
 * are numbered from the edges up to the root, level by level.
 */
export type EdgeTree = {
  /** How many edges there are: the nodes with lower numbers are edges. */
  readonly count: number
  /** West, south, east and north of every node. */
  readonly boxes: Float64Array
  /** Of a leaf its edge, of another node its first child. */
  readonly contents: Uint32Array
  /** Of an inner node the number behind its last child. */
  readonly childEnds: Uint32Array
  /** Nodes that may still be visited: see `allowVisits`. */
  visitsLeft: number
}

const fanout = 8

/**
 * A quarter of a second for comparing one row. Two equal polygons of 50 000 corners take 6 million visits; only where
 * most edges of one geometry overlap most of the other does it take more.
 */
const maxVisits = 20_000_000

/** As many edges can be sorted: a Morton code and the number of an edge are together a whole number in a double. */
const sortLimit = 2 ** 21

/**
 * `ends` is x1, y1, x2, y2 of every edge. Edges of one ring or line follow each other and lie close together as they are.
 * With `starts`, the first edge of each, those are brought into an order in which neighbours lie close together too, which
 * pays where the tree is searched often.
 */
export function createEdgeTree(ends: readonly number[], starts: readonly number[] = []): EdgeTree {
  const count = ends.length / 4
  const isSorted = starts.length > 1 && count < sortLimit
  const levels = levelSizes(count)
  const nodes = levels.reduce((sum, size) => sum + size, 0)
  const tree: EdgeTree = {
    count,
    boxes: new Float64Array(nodes * 4),
    contents: isSorted ? mortonOrder(ends, starts, nodes) : inTurn(count, nodes),
    childEnds: new Uint32Array(nodes),
    visitsLeft: maxVisits,
  }
  fillLeaves(tree, ends)
  fillNodes(tree, levels)
  return tree
}

/** A new comparison may visit as many nodes as the one before. */
export function allowVisits(tree: EdgeTree): void {
  tree.visitsLeft = maxVisits
}

const tooManyVisits = (): ApiError =>
  new ApiError(
    'invalid_filter',
    'The geometry of the filter and one of a row have too many edges that overlap to be compared. Simplify the geometry of the filter.',
  )

/** The edges whose boxes meet this one. */
export function edgesNear(tree: EdgeTree, west: number, south: number, east: number, north: number): number[] {
  const { boxes, contents, childEnds, count } = tree
  const edges: number[] = []
  if (!isNearTree(tree, west, south, east, north)) return edges
  let size = 1
  let visits = 0
  stack[0] = rootOf(tree)
  while (size > 0) {
    const node = stack[--size]
    const first = contents[node]
    const end = childEnds[node]
    visits += end - first
    for (let child = first; child < end; child++) {
      if (!isNear(boxes, child, west, south, east, north)) continue
      if (child < count) edges.push(contents[child])
      else stack[size++] = child
    }
  }
  tree.visitsLeft -= visits
  if (tree.visitsLeft < 0) throw tooManyVisits()
  return edges
}

/** The nodes that a search has still to look into; a search ends before another begins. */
const stack = new Uint32Array(fanout * 12)

/** The edges whose boxes a ray from here to the east meets. */
export function edgesEastOf(tree: EdgeTree, x: number, y: number): number[] {
  return edgesNear(tree, x, y, Infinity, y)
}

/** Whether the box of all edges meets this one. */
export function isNearTree(tree: EdgeTree, west: number, south: number, east: number, north: number): boolean {
  return tree.count > 0 && isNear(tree.boxes, rootOf(tree), west, south, east, north)
}

function isNear(boxes: Float64Array, node: number, west: number, south: number, east: number, north: number): boolean {
  const at = node * 4
  return boxes[at] <= east && boxes[at + 2] >= west && boxes[at + 1] <= north && boxes[at + 3] >= south
}

/** West, south, east and north of all edges; of none it is a box that nothing meets. */
export function treeExtent(tree: EdgeTree): readonly [number, number, number, number] {
  const { boxes } = tree
  if (tree.count === 0) return [Infinity, Infinity, -Infinity, -Infinity]
  const at = rootOf(tree) * 4
  return [boxes[at], boxes[at + 1], boxes[at + 2], boxes[at + 3]]
}

const rootOf = ({ boxes }: EdgeTree): number => boxes.length / 4 - 1

/** How many nodes there are on each level, edges first. There is one level above them at least. */
function levelSizes(count: number): number[] {
  const sizes = [count]
  let size = count
  while (size > 1 || (sizes.length === 1 && count > 0)) {
    size = Math.ceil(size / fanout)
    sizes.push(size)
  }
  return sizes
}

function inTurn(count: number, nodes: number): Uint32Array {
  const contents = new Uint32Array(nodes)
  for (let edge = 0; edge < count; edge++) contents[edge] = edge
  return contents
}

/** The edges by the Morton codes of where their rings and lines start. */
function mortonOrder(ends: readonly number[], starts: readonly number[], nodes: number): Uint32Array {
  const count = ends.length / 4
  const codes = mortonCodes(starts.map((start) => [ends[start * 4], ends[start * 4 + 1]]))
  const keys = new Float64Array(count)
  codes.forEach((code, index) => {
    const end = starts[index + 1] ?? count
    for (let edge = starts[index]; edge < end; edge++) keys[edge] = code * sortLimit + edge
  })
  keys.sort()
  const contents = new Uint32Array(nodes)
  for (let index = 0; index < count; index++) contents[index] = keys[index] % sortLimit
  return contents
}

function fillLeaves({ boxes, contents, count }: EdgeTree, ends: readonly number[]): void {
  for (let leaf = 0; leaf < count; leaf++) {
    const edge = contents[leaf] * 4
    const [x1, y1] = [ends[edge], ends[edge + 1]]
    const [x2, y2] = [ends[edge + 2], ends[edge + 3]]
    boxes[leaf * 4] = Math.min(x1, x2)
    boxes[leaf * 4 + 1] = Math.min(y1, y2)
    boxes[leaf * 4 + 2] = Math.max(x1, x2)
    boxes[leaf * 4 + 3] = Math.max(y1, y2)
  }
}

function fillNodes({ boxes, contents, childEnds }: EdgeTree, levels: readonly number[]): void {
  let begin = 0
  for (let level = 1; level < levels.length; level++) {
    const end = begin + levels[level - 1]
    for (let first = begin, node = end; first < end; first += fanout, node++) {
      contents[node] = first
      childEnds[node] = Math.min(first + fanout, end)
      joinBoxes(boxes, first, childEnds[node], node)
    }
    begin = end
  }
}

function joinBoxes(boxes: Float64Array, first: number, end: number, node: number): void {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let at = first * 4; at < end * 4; at += 4) {
    west = Math.min(west, boxes[at])
    south = Math.min(south, boxes[at + 1])
    east = Math.max(east, boxes[at + 2])
    north = Math.max(north, boxes[at + 3])
  }
  boxes[node * 4] = west
  boxes[node * 4 + 1] = south
  boxes[node * 4 + 2] = east
  boxes[node * 4 + 3] = north
}
