// The limit of Node: node:http in a process for each core, and one prepared SELECT by key, without keys, ACL or tenants.
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import pg from 'pg'

const { DATABASE_URL: connectionString, TABLE: table, PORT: port } = process.env

if (cluster.isPrimary) {
  for (let count = availableParallelism(); count > 0; count--) cluster.fork()
  process.on('SIGTERM', () => process.exit())
} else {
  serve()
}

function serve(): void {
  const pool = new pg.Pool({ connectionString, max: 10 })
  const text = `SELECT id, name, pop, kind, ST_AsGeoJSON(geom) AS geometry FROM ${table} WHERE id = $1`
  const server = createServer(async ({ url = '' }, response) => {
    const [, id] = /filter\[id\]=(\d+)$/.exec(url) ?? []
    if (!id) return response.end()
    const { rows } = await pool.query({ name: 'row', text, values: [id] })
    const { geometry, ...properties } = rows[0]
    const feature = `{"type":"Feature","id":${id},"geometry":${geometry},"properties":${JSON.stringify(properties)}}`
    response.setHeader('content-type', 'application/geo+json; charset=utf-8')
    response.end(`{"type":"FeatureCollection","features":[${feature}]}`)
  })
  server.listen(Number(port), '127.0.0.1')
}
