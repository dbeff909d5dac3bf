// The table at the end of a test run: the CPU seconds of each part, and the files that cost most.
import { cpuOf } from './cpu-time.ts'
import type { Result } from './run-files.ts'

export const parts = {
  checks: 'Checks',
  plain: 'Tests without a database',
  postgres: 'Tests on PostgreSQL',
  embedded: 'Tests on the embedded database',
  browser: 'Tests in a browser',
} as const
export type Part = keyof typeof parts

// How many of the dearest files are shown.
const shownFiles = 10

interface Cost {
  name: string
  part: Part
  own: number
  children: number
  wallSeconds: number
}

export function createCostTable() {
  const costs: Cost[] = []
  const shared = { servers: 0, browsers: 0 }
  return {
    add({ name, cpu = { own: 0, children: 0 }, startedAt }: Pick<Result, 'name' | 'cpu' | 'startedAt'>, part: Part) {
      costs.push({
        name,
        part,
        own: cpu.own,
        children: cpu.children,
        wallSeconds: (performance.now() - startedAt) / 1000,
      })
    },
    // CPU seconds of the PostgreSQL server that all tests share.
    addServer(seconds: number) {
      shared.servers += seconds
    },
    addBrowsers(seconds: number) {
      shared.browsers += seconds
    },
    lines: (): string[] => (cpuOf('self') ? [...partLines(costs, shared), '', ...dearestLines(costs)] : []),
  }
}

const columns = (...cells: string[]): string =>
  `  ${cells[0]?.padEnd(34)}${cells
    .slice(1, 5)
    .map((cell) => cell.padStart(10))
    .join('')}`

function partLines(costs: readonly Cost[], { servers, browsers }: { servers: number; browsers: number }): string[] {
  const sumOf = (part: Part, key: 'own' | 'children' | 'wallSeconds') =>
    costs.filter((cost) => cost.part === part).reduce((sum, cost) => sum + cost[key], 0)
  const keys = (Object.keys(parts) as Part[]).filter((part) => costs.some((cost) => cost.part === part))
  const rows = keys.map((part) => {
    const own = sumOf(part, 'own')
    const children = sumOf(part, 'children')
    return { title: parts[part], own, children, all: own + children }
  })
  const runner = cpuOf('self')
  const rest = runner ? runner.own + runner.children - rows.reduce((sum, { all }) => sum + all, 0) : 0
  // What of the browsers' time has reached those that started them.
  const counted = rows.find(({ title }) => title === parts.browser)?.children ?? 0
  const uncounted = Math.max(browsers - counted, 0)
  const total = (runner?.own ?? 0) + (runner?.children ?? 0) + servers + uncounted
  return [
    columns('CPU seconds', 'process', 'children', 'all'),
    ...rows.map(({ title, own, children, all }) => columns(title, ...[own, children, all].map(rounded))),
    columns('The PostgreSQL that they share', '', '', rounded(servers)),
    columns('Chromium, besides the children', '', '', rounded(uncounted)),
    columns('The runner, and what no file has', '', '', rounded(rest)),
    columns('Together', '', '', rounded(total)),
  ]
}

function dearestLines(costs: readonly Cost[]): string[] {
  const files = costs.filter(({ part }) => part !== 'checks')
  const dearest = files.toSorted((a, b) => b.own + b.children - a.own - a.children).slice(0, shownFiles)
  return [
    `  The ${dearest.length} dearest files: CPU seconds, and how long they took`,
    ...dearest.map(
      ({ name, own, children, wallSeconds }) =>
        `  ${rounded(own + children).padStart(6)} ${rounded(wallSeconds).padStart(6)} s  ${name}`,
    ),
  ]
}

const rounded = (seconds: number): string => seconds.toFixed(1)
