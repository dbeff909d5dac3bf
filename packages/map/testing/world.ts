/** The real server with a tenant whose datasets the tests show: points on a line, an area, a path, and other points. */
import type { AddressInfo } from 'node:net'
import { baseStyles } from '../../server/src/tenants/cartography/maps/base-styles.ts'
import { installBaseStyles } from '../../server/src/tenants/cartography/maps/install-base-styles.ts'
import { testApp } from '../../server/testing/harness.ts'

export type World = Awaited<ReturnType<typeof startWorld>>

/** Markup that runs a script where somebody forgets to escape it. */
export const markup = '<img src=x onerror="document.title=\'hacked\'">'

export async function startWorld() {
  const app = await testApp()
  await installBaseStyles(app.db, baseStyles())
  const tenant = await app.tenant('atlas')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`SET search_path = ${schema}, public;
    CREATE TABLE places (id int PRIMARY KEY, code text, name text, geom geometry(Geometry, 4326));
    INSERT INTO places SELECT n, 'p' || n, 'Place ' || n, ST_SetSRID(ST_Point((n - 3) * 20, 0), 4326) FROM generate_series(1, 5) n;
    INSERT INTO places VALUES (6, 'p6', 'Area', ST_MakeEnvelope(-10, 20, 10, 35, 4326)),
      (7, 'p7', '${markup.replaceAll("'", "''")}', ST_GeomFromText('LINESTRING(-30 -30, 30 -30)', 4326));
    CREATE TABLE others (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO others SELECT n, 'Other ' || n, ST_SetSRID(ST_Point((n - 2) * 20, -15), 4326) FROM generate_series(1, 3) n;
    CREATE TABLE sightings (id int PRIMARY KEY, seen timestamptz, species text, animals int, geom geometry(Point, 4326));
    INSERT INTO sightings SELECT n, '2024-01-15T12:00:00Z'::timestamptz + n * interval '1 month',
      (ARRAY['Orca', 'Fin whale'])[1 + n % 2], n,
      ST_SetSRID(ST_Point(n * 10 + 1, 5), 4326) FROM generate_series(0, 5) n;
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}; RESET search_path`)
  const dataset = async (source: string) => {
    const { body } = await app.call('POST', '/api/v1/datasets', {
      key: tenant.developer,
      body: { type: 'table', name: source, source },
    })
    return body.id as string
  }
  const places = await dataset('places')
  const others = await dataset('others')
  const sightings = await dataset('sightings')
  const { body: styles } = await app.call('GET', '/api/v1/styles?sort=name', { key: tenant.developer })
  const styleOf = (base: string): string =>
    styles.find((style: { metadata: { base: string } }) => style.metadata.base === base)?.id
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  return {
    app,
    tenant,
    schema,
    url: `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`,
    key: tenant.public,
    places,
    others,
    sightings,
    light: styleOf('light'),
    dark: styleOf('dark'),
    close: () => app.close(),
  }
}
