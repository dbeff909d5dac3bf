/**
 * PostgreSQL's query plan as a tree: each node with its share of the cost, and advice if it scans a large table. The numbers
 * are the planner's estimates, because EXPLAIN does not run the query.
 */
import { sqlName } from '../../../components/code-editor/sql-name.ts'
import type { DatasetAttribute } from '../dataset.ts'

type RawNode = { readonly [field: string]: unknown; readonly Plans?: readonly RawNode[] }

export interface PlanStep {
  /** The position in the tree: "0.1". */
  key: string
  depth: number
  /** "Seq Scan on cities" */
  title: string
  /** Conditions, sort keys, indexes. */
  details: { label: string; text: string }[]
  /** Undefined if the server shows only the kinds of nodes. */
  rows: number | undefined
  cost: number | undefined
  /** The node's own cost, relative to the most expensive node: 0 to 1. */
  share: number
  hint: string | undefined
}

export interface ReadPlan {
  steps: PlanStep[]
  totalCost: number | undefined
  /** For sources without a database: how the query is executed. */
  note: string | undefined
}

/** From this cost on, an index is worth suggesting. */
const largeCost = 2500

export function readPlan(plan: unknown, attributes: readonly Pick<DatasetAttribute, 'name' | 'type'>[]): ReadPlan {
  const root = Array.isArray(plan) ? (plan[0] as { Plan?: RawNode } | undefined)?.Plan : undefined
  if (!root) return { steps: [], totalCost: undefined, note: noteOf(plan) }
  const nodes = flatten(root)
  const dearest = Math.max(...nodes.map(({ node }) => selfCost(node)), 0)
  const steps = nodes.map(({ node, key, depth }): PlanStep => {
    const cost = numberOf(node['Total Cost'])
    return {
      key,
      depth,
      title: titleOf(node),
      details: detailsOf(node),
      rows: numberOf(node['Plan Rows']),
      cost,
      share: dearest > 0 ? selfCost(node) / dearest : 0,
      hint: hintOf(node, attributes),
    }
  })
  return { steps, totalCost: numberOf(root['Total Cost']), note: undefined }
}

function noteOf(plan: unknown): string {
  const { source, evaluation } = (plan ?? {}) as { source?: unknown; evaluation?: unknown }
  return source
    ? `The server asks the ${String(source)} source for all of its rows and carries the query out ${String(evaluation)}, on at most 100 000 rows.`
    : 'The server gave no plan.'
}

function flatten(node: RawNode, key = '0', depth = 0): { node: RawNode; key: string; depth: number }[] {
  const below = (node.Plans ?? []).flatMap((child, index) => flatten(child, `${key}.${index}`, depth + 1))
  return [{ node, key, depth }, ...below]
}

/** Never negative: a LIMIT costs less than the node below it, which it stops early. */
function selfCost(node: RawNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + (numberOf(child['Total Cost']) ?? 0), 0)
  return Math.max(0, (numberOf(node['Total Cost']) ?? 0) - below)
}

function titleOf(node: RawNode): string {
  const words = [node['Join Type'] && node['Join Type'] !== 'Inner' ? node['Join Type'] : '', node['Node Type']]
  const place = node['Relation Name'] ?? node['Function Name'] ?? node['CTE Name']
  const index = node['Index Name']
  return [...words, index && `by ${index}`, place && `on ${place}`].filter(Boolean).join(' ')
}

const detailFields: readonly (readonly [field: string, label: string])[] = [
  ['Index Cond', 'finds by index'],
  ['Recheck Cond', 'checks again'],
  ['Filter', 'keeps rows with'],
  ['Join Filter', 'keeps pairs with'],
  ['Hash Cond', 'joins on'],
  ['Merge Cond', 'joins on'],
  ['Sort Key', 'sorts by'],
  ['Presorted Key', 'already sorted by'],
  ['Group Key', 'groups by'],
  ['Order By', 'in the order of'],
]

const detailsOf = (node: RawNode): PlanStep['details'] =>
  detailFields.flatMap(([field, label]) => {
    const value = node[field]
    if (value === undefined) return []
    return [{ label, text: Array.isArray(value) ? value.join(', ') : String(value) }]
  })

function hintOf(node: RawNode, attributes: readonly Pick<DatasetAttribute, 'name' | 'type'>[]): string | undefined {
  const { 'Node Type': type, Filter: filter, 'Relation Name': table, 'Total Cost': cost } = node
  if (type !== 'Seq Scan' || filter === undefined || (numberOf(cost) ?? 0) < largeCost) return undefined
  const used = attributes.filter(({ name }) => mentions(String(filter), name))
  const reads = `This reads every row of ${table ?? 'a large table'} to find the few that match.`
  if (used.length === 0) return `${reads} An index on what the filter asks for makes it faster.`
  const spatial = used.find((attribute) => attribute.type === 'geometry')
  const columns = spatial
    ? `USING gist (${sqlName(spatial.name)})`
    : `(${used.map(({ name }) => sqlName(name)).join(', ')})`
  return `${reads} An index makes it faster: CREATE INDEX ON ${table} ${columns}`
}

const mentions = (filter: string, name: string): boolean =>
  new RegExp(`(?<!\\w)"?${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}"?(?!\\w)`).test(filter)

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
