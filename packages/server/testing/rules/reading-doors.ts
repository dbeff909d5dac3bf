// The ways to the rows of a dataset by queries, each compared with the oracle.
import assert from 'node:assert/strict'
import { pick, type Random } from '../uploads/random.ts'
import { expectedRows, type Sight, sameRows } from './matrix-world.ts'
import { type Condition, holds } from './oracle.ts'
import { randomFilter } from './random-rules.ts'

export type Door = (sight: Sight, random: Random) => Promise<void>

const query = ({ id }: Sight, rest = ''): string => `/api/v1/datasets/${id}/query${rest}`
const has = ({ view }: Sight, name: string): boolean => view.columns.includes(name)
const located = ({ view, table }: Sight) => view.rows.filter(({ cells }) => (cells[table.geometry] ?? null) !== null)
const json = (value: unknown): string => encodeURIComponent(JSON.stringify(value))

async function rowsOf(sight: Sight, rest: string, body?: object): Promise<Record<string, unknown>[]> {
  const answer = await sight.ask(body ? 'POST' : 'GET', query(sight, rest), body && { body })
  assert.equal(answer.status, 200, `${sight.label} ${rest} ${JSON.stringify(body)}: ${answer.text}`)
  return answer.body
}

async function allRows(sight: Sight): Promise<void> {
  const expected = expectedRows(sight)
  sameRows(await rowsOf(sight, ''), expected, `${sight.label}: all rows`)
  sameRows(await rowsOf(sight, '', {}), expected, `${sight.label}: all rows by POST`)
}

async function formats(sight: Sight): Promise<void> {
  for (const format of ['geojson', 'ndjson', 'csv']) {
    const { text, status } = await sight.ask('GET', query(sight, `?format=${format}`))
    assert.equal(status, 200, text)
    if (!has(sight, 'mark_qz')) continue
    for (const { cells } of sight.view.rows)
      if (cells.mark_qz !== null) assert.ok(text.includes(String(cells.mark_qz)), `${sight.label}: ${format}`)
  }
}

const matching = (sight: Sight, where: Condition) =>
  sight.view.rows.filter(({ cells }) =>
    holds(where, { kinds: sight.table.kinds, row: cells, caller: sight.caller }, false),
  )

async function filters(sight: Sight, random: Random): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    const where = randomFilter(random, sight.table, sight.view.columns)
    const rows = matching(sight, where)
    const expected = expectedRows({ ...sight, view: { ...sight.view, rows } })
    const what = `${sight.label}: ${JSON.stringify(where)}`
    sameRows(await rowsOf(sight, `?filter=${json(where)}`), expected, what)
    sameRows(await rowsOf(sight, '', { where }), expected, what)
    const counted = await sight.ask(
      'GET',
      query(sight, `?filter=${json(where)}&count=${pick(random, ['exact', 'estimated'])}&limit=2`),
    )
    if (sight.view.isBound) assert.equal(counted.headers['x-total-count'], String(rows.length), what)
  }
}

async function cql2(sight: Sight): Promise<void> {
  const { columns, rows } = sight.view
  const asked = (text: string) => rowsOf(sight, `?filter-lang=cql2-text&filter=${encodeURIComponent(text)}`)
  const levels = rows.map(({ cells }) => cells.level_qz ?? null).filter((level) => level !== null)
  if (columns.includes('level_qz')) {
    const expected = levels.filter((level) => Number(level) * 2 > 3).length
    assert.equal((await asked('level_qz * 2 > 3')).length, expected, sight.label)
    assert.equal(
      (await asked('6 / (level_qz - 2) > 0')).length,
      levels.filter((level) => Number(level) > 2).length,
      sight.label,
    )
    assert.equal((await asked('level_qz IS NULL')).length, rows.length - levels.length, sight.label)
  }
  if (columns.includes('mark_qz')) await asked("CASEI(mark_qz) LIKE CASEI('MK%')")
}

/** A name that is hidden is answered as one that there never was. */
async function hiddenNames(sight: Sight): Promise<void> {
  const messages = ({ text }: { text: string }, name: string) =>
    (JSON.parse(text).errors ?? []).map(({ path, message }: { path: string; message: string }) =>
      `${path}: ${message}`.replaceAll(name, 'NAME').replace(/Did you mean "\w+"\? /, ''),
    )
  for (const name of Object.keys(sight.table.kinds)) {
    if (has(sight, name)) continue
    const absent = name.replace('_qz', '_qx')
    const forms = (it: string): string[] => [
      ...[
        `?attributes=${it}`,
        `?sort=${it}`,
        `?filter[${it}]=1`,
        `?attributes=max(${it})`,
        `?aggregate=h3:1&value=sum(${it})`,
      ],
      `?filter-lang=cql2-text&filter=${it}=1`,
    ]
    for (const [index, form] of forms(name).entries()) {
      const hidden = await sight.askNaming('GET', query(sight, form))
      const never = await sight.askNaming('GET', query(sight, forms(absent)[index]))
      assert.deepEqual(
        [hidden.status, messages(hidden, name)],
        [400, messages(never, absent)],
        `${sight.label}: ${form}`,
      )
    }
    const statistics = await sight.askNaming('GET', `/api/v1/datasets/${sight.id}/attributes/${name}/statistics`)
    assert.equal(statistics.status, 404, `${sight.label}: statistics of ${name}`)
    const grouped = await sight.askNaming('POST', query(sight), { body: { attributes: ['count(*)'], group: [name] } })
    assert.equal(grouped.status, 400, `${sight.label}: group by ${name}`)
  }
}

async function groups(sight: Sight): Promise<void> {
  const { columns, rows } = sight.view
  const [counted] = await rowsOf(sight, '', { attributes: ['count(*) as n'] })
  assert.equal(counted?.n, rows.length, `${sight.label}: count(*)`)
  if (columns.includes('team_qz')) {
    const expected = Map.groupBy(rows, ({ cells }) => cells.team_qz ?? null)
    const list = [...expected].map(([team_qz, { length }]) => ({ team_qz, n: length }))
    sameRows(
      await rowsOf(sight, '', { attributes: ['team_qz', 'count(*) as n'], group: ['team_qz'] }),
      list,
      `${sight.label}: groups`,
    )
    const distinct = await rowsOf(sight, '', { attributes: ['team_qz'], distinct: ['team_qz'] })
    sameRows(
      distinct,
      list.map(({ team_qz }) => ({ team_qz })),
      `${sight.label}: distinct`,
    )
  }
  if (columns.includes('level_qz')) {
    const levels = rows.flatMap(({ cells }) => (cells.level_qz === null ? [] : [Number(cells.level_qz)]))
    const [row] = await rowsOf(sight, '?attributes=sum(level_qz) as total,count(level_qz) as n,max(level_qz) as most')
    const total = levels.length === 0 ? null : levels.reduce((sum, level) => sum + level, 0)
    assert.deepEqual(
      [row?.n, row?.total, row?.most],
      [levels.length, total, levels.length === 0 ? null : Math.max(...levels)],
      sight.label,
    )
  }
}

async function samplesAndGeometries(sight: Sight): Promise<void> {
  for (const method of ['bernoulli', 'system'])
    sameRows(
      await rowsOf(sight, '', { sample: { percentage: 100, method } }),
      expectedRows(sight),
      `${sight.label}: ${method}`,
    )
  if (!has(sight, sight.table.geometry)) return
  const near = await rowsOf(sight, '', { nearest: { point: [7.5, 46.5] }, limit: 5 })
  assert.ok(near.length <= sight.view.rows.length, sight.label)
  const cells = await rowsOf(sight, '?aggregate=h3:2')
  const total = cells.reduce((sum, { count }) => sum + Number(count), 0)
  assert.equal(total, located(sight).length, `${sight.label}: cells`)
  const [extent] = await rowsOf(
    sight,
    `?attributes=extent(${sight.table.geometry}) as box,count(${sight.table.geometry}) as n`,
  )
  assert.equal(extent?.n, located(sight).length, `${sight.label}: extent`)
}

async function counts(sight: Sight): Promise<void> {
  for (const count of ['exact', 'estimated']) {
    const { headers } = await sight.ask('GET', query(sight, `?count=${count}&limit=1`))
    if (sight.view.isBound)
      assert.equal(headers['x-total-count'], String(sight.view.rows.length), `${sight.label}: ${count}`)
  }
  const explained = await sight.ask('GET', query(sight, '?explain=true'))
  assert.equal(explained.status, 200, explained.text)
  if (sight.view.isBound) assert.deepEqual(Object.keys(explained.body.plan), ['hidden'])
}

const nextOf = (headers: Readonly<Record<string, unknown>>): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(String(headers.link ?? ''))?.[1]

/** The address of the second page, if there is one. */
export async function secondPage(sight: Sight): Promise<string | undefined> {
  if (!sight.table.key) return undefined
  const { headers } = await sight.ask('GET', firstPage(sight))
  return nextOf(headers)
}

const firstPage = (sight: Sight): string => query(sight, '?limit=3&cursor=')

async function pages(sight: Sight): Promise<void> {
  const { table, isKeyShown } = sight
  if (!table.key) return
  const first = await sight.ask('GET', firstPage(sight))
  if (first.status === 400 && !isKeyShown) return walkByOffset(sight)
  const all: unknown[] = []
  let url: string | undefined = firstPage(sight)
  for (let page = 0; url !== undefined && page < 40; page++) {
    const { body, headers, status, text } = await sight.ask('GET', url)
    assert.equal(status, 200, `${sight.label}: ${url}: ${text}`)
    all.push(...body)
    url = nextOf(headers)
  }
  sameRows(all, expectedRows(sight), `${sight.label}: pages`)
}

/** Where a key is hidden in some rows, there are no pages by it. */
async function walkByOffset(sight: Sight): Promise<void> {
  const { columns, rows } = sight.view
  if (columns.length === 0) return
  const all: unknown[] = []
  const order = columns.filter((name) => name !== sight.table.geometry && name !== 'doc_qz').join(',')
  for (let offset = 0; offset < rows.length + 3; offset += 3)
    all.push(...(await rowsOf(sight, `?limit=3&offset=${offset}&sort=${order}`)))
  sameRows(all, expectedRows(sight), `${sight.label}: pages by offset`)
}

async function statistics(sight: Sight): Promise<void> {
  const { rows } = sight.view
  for (const name of ['price_qz', 'mark_qz', 'level_qz', sight.table.geometry]) {
    if (!has(sight, name)) continue
    const { body, status, text } = await sight.ask('GET', `/api/v1/datasets/${sight.id}/attributes/${name}/statistics`)
    assert.equal(status, 200, text)
    const known = rows.filter(({ cells }) => (cells[name] ?? null) !== null)
    assert.deepEqual(
      [body.count, body.rows.count],
      [known.length, rows.length],
      `${sight.label}: statistics of ${name}`,
    )
  }
}

export const readingDoors: readonly Door[] = [
  ...[allRows, formats, filters, cql2, hiddenNames, groups, samplesAndGeometries, counts, pages, statistics],
]
