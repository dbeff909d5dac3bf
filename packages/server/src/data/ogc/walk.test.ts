import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { linkOf, type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'

let world: OgcWorld
before(async () => {
  world = await ogcWorld()
})
after(() => world.close())

const walks = process.env.TEST_RANDOM ? 60 : 12
const rowCount = 120

/** Even ids stay as they are; odd ones come and go, and all but the key of odd ones changes. */
const stays = (id: number): boolean => id % 2 === 0

async function fresh(): Promise<string> {
  const { schema, app } = world
  await app.db.script(`DROP TABLE IF EXISTS ${schema}.moving;
    CREATE TABLE ${schema}.moving (id int PRIMARY KEY, pop int, name text, geom geometry(Point, 4326));
    INSERT INTO ${schema}.moving SELECT n, n % 7, 'row ' || n % 5, ST_Point(n % 90, 1, 4326) FROM generate_series(1, ${rowCount}) n;
    GRANT SELECT ON ${schema}.moving TO ${schema}`)
  return world.create({ type: 'table', name: 'moving', source: 'moving' })
}

const change = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'update'),
  at: fc.integer({ min: 0, max: rowCount }).map((n) => n * 2 + 1),
})
type Change = { kind: string; at: number }

function changeSql({ kind, at }: Change): string {
  const table = `${world.schema}.moving`
  if (kind === 'delete') return `DELETE FROM ${table} WHERE id = ${at}`
  if (kind === 'update') return `UPDATE ${table} SET pop = pop + 3, name = 'changed' WHERE id = ${at}`
  return `INSERT INTO ${table} VALUES (${at}, 3, 'new', ST_Point(1, 1, 4326)) ON CONFLICT DO NOTHING`
}

const idsOf = (body: { features: { id: number }[] }): number[] => body.features.map(({ id }) => id)

describe('a walk by next links while others write', () => {
  test('skips no row that stays and sees no row twice, whatever the page size, filter and order', async () => {
    const id = await fresh()
    const queries = ['', '&bbox=0,0,60,2', '&filter=pop%20%3C%206', '&sortby=-id', '&name=row%202&skipGeometry=true']
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...queries),
        fc.array(fc.array(change, { maxLength: 6 }), { minLength: 5, maxLength: 20 }),
        async (limit, query, rounds) => {
          const expected = idsOf((await world.get(`/collections/${id}/items?limit=10000${query}`)).body).filter(stays)
          const seen: number[] = []
          let next: string | undefined = `/collections/${id}/items?limit=${limit}${query}`
          for (let page = 0; next !== undefined; page++) {
            const { status, body, text } = await world.get(next)
            assert.equal(status, 200, text)
            seen.push(...idsOf(body))
            for (const one of rounds[page % rounds.length] ?? []) await world.app.db.script(changeSql(one))
            next = linkOf(body.links, 'next')?.href
          }
          assert.equal(new Set(seen).size, seen.length, 'no row twice')
          assert.deepEqual(seen.filter(stays), expected, 'no row skipped')
        },
      ),
      { numRuns: walks },
    )
  })

  test('goes on within a box when the first row without a geometry comes, which the rest of the walk then sees', async () => {
    const id = await fresh()
    const first = await world.get(`/collections/${id}/items?limit=20&bbox=0,0,60,2`)
    await world.app.db.script(`INSERT INTO ${world.schema}.moving VALUES (9000, 1, 'nowhere', NULL)`)
    const seen = idsOf(first.body)
    let next = linkOf(first.body.links, 'next')?.href
    while (next !== undefined) {
      const { status, body, text } = await world.get(next)
      assert.equal(status, 200, text)
      seen.push(...idsOf(body))
      next = linkOf(body.links, 'next')?.href
    }
    assert.equal(seen.at(-1), 9000)
    assert.equal(new Set(seen).size, seen.length)
    await world.app.db.script(`DELETE FROM ${world.schema}.moving WHERE id = 9000`)
    const { body } = await world.get(`/collections/${id}/items?resultType=hits&bbox=0,0,60,2`)
    assert.equal(body.numberMatched, seen.length - 1)
  })

  test('goes on by key where a page is too large to be held in memory', async () => {
    const { schema, app } = world
    await app.db.script(`CREATE TABLE ${schema}.wide (id int PRIMARY KEY, filler text);
      INSERT INTO ${schema}.wide SELECT n, repeat(md5(n::text), 250) FROM generate_series(2, 3000, 2) n;
      GRANT SELECT ON ${schema}.wide TO ${schema}`)
    const id = await world.create({ type: 'table', name: 'wide', source: 'wide' })
    const first = await world.get(`/collections/${id}/items?limit=1480`)
    assert.deepEqual([first.body.numberReturned, first.body.features.length], [1480, 1480])
    assert.doesNotMatch(first.headers.get('link') ?? '', /rel="next"/, 'the page was not held')
    // By offset, a row before the last one would push that one onto the second page, too.
    await app.db.script(`INSERT INTO ${schema}.wide VALUES (1, 'x'), (3, 'x')`)
    const second = await world.get(linkOf(first.body.links, 'next')?.href ?? '')
    assert.deepEqual(
      idsOf(second.body),
      Array.from({ length: 20 }, (_, n) => 2962 + n * 2),
    )
    assert.equal(linkOf(second.body.links, 'next'), undefined)
  })
})
