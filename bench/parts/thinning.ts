import { post } from '../bench.ts'
import { runLoad } from '../load.ts'
import { type Contender, ourName, type Part } from '../part.ts'
import { shuffled, tilesAround } from '../tables.ts'

const ranges = [
  ['0–4', [0, 1, 2, 3, 4]],
  ['5–7', [5, 6, 7]],
] as const

export const thinning: Part = {
  name: 'thinning',
  about:
    'What thinning costs: tiles of zooms at which 1 M points are thinned, from overviews, from a sample of the table, and with a filter, beside the first 10,000 rows of the table in each tile, which nobody chose. None from a cache, uncompressed; all by one server.',
  seconds: 120,
  async *cases(bench) {
    const { points } = await bench.world()
    const ours = await bench.startGraticule({ TILE_CACHE_MB: '0' })
    const source = { type: 'dataset', source: points.dataset, metadata: { tiles: { overviews: false } } }
    const { id: plain } = await post(ours, bench.key, 'tilesources', source)
    const ways = [
      [ourName, points.tiles, ''],
      ['without overviews', plain, ''],
      ['with a filter', points.tiles, '?filter[pop][$lt]=500'],
      ['first rows', plain, '?limit=10000'],
    ] as const
    for (const [name, zooms] of ranges) {
      const places = shuffled(tilesAround(zooms, { width: 4, height: 3 }))
      const contenders = ways.map(([way, tiles, query]): Contender => {
        const paths = places.map((place) => `/tiles/${tiles}/${place}.mvt${query}`)
        const headers = { ...bench.headers, 'accept-encoding': 'identity' }
        return {
          name: way,
          async measure() {
            const { perSecond, p95Ms, refused } = await runLoad({ url: ours.url, paths, headers }, bench.seconds)
            if (refused > 0) throw new Error(`${refused} requests were refused`)
            return { value: perSecond, p95Ms }
          },
        }
      })
      yield { work: `thinned tiles of zooms ${name}, points`, unit: 'a second', better: 'more', contenders }
    }
  },
}
