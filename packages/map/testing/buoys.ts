/** Three points of a table, which another page can move by the client while the map of the stage follows. */
import { afterEach, beforeEach } from 'node:test'
import type { Page } from 'playwright-core'
import type { Stage } from './stage.ts'

export function setBuoys(stage: Stage) {
  const buoys = { dataset: '', move, follow }
  let editor: Page

  /** South of the equator, so that no row is in the northern tiles. */
  beforeEach(async () => {
    const { app, schema, tenant } = stage.world
    await app.db.script(`SET search_path = ${schema}, public;
      DROP TABLE IF EXISTS buoys;
      CREATE TABLE buoys (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
      INSERT INTO buoys SELECT n, 'Buoy ' || n, ST_SetSRID(ST_Point((n - 2) * 20, -15), 4326) FROM generate_series(1, 3) n;
      GRANT SELECT ON buoys TO ${schema}; RESET search_path`)
    const body = { type: 'table', name: 'buoys', source: 'buoys' }
    buoys.dataset = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id
    editor ??= await stage.browser.open()
  })
  afterEach(async () => {
    const { app, tenant } = stage.world
    await app.call('DELETE', `/api/v1/datasets/${buoys.dataset}`, { key: tenant.developer })
  })

  function move(id: number, longitude: number, latitude: number): Promise<void> {
    const { url, tenant } = stage.world
    return editor.evaluate(
      async ({ url, key, dataset, id, at }) => {
        const geom = { type: 'Point', coordinates: at }
        await tools.createClient(url, key).datasets.changeRow(dataset, id, { geom })
      },
      { url, key: tenant.developer, dataset: buoys.dataset, id, at: [longitude, latitude] },
    )
  }

  /** Resolves when the map draws the point at the place, and nothing more is loaded. */
  function follow(id: number, longitude: number, latitude: number, source = 'places'): Promise<void> {
    return stage.page.evaluate(
      async ([source, id, at]) => {
        await tools.until(() => tools.isAt(source, id, at))
        await tools.settled()
      },
      [source, id, [longitude, latitude] as [number, number]] as const,
    )
  }

  return buoys
}
