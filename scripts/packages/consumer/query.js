// One query with the client, in plain JavaScript, as the oldest Node that is supported runs it.
import { ApiError, createClient } from '@graticule/client'

const [url = '', key, datasetId = ''] = process.argv.slice(2)
const client = createClient(url, key)
console.log(JSON.stringify(await client.datasets.query(datasetId, { attributes: ['name'] })))
for await (const row of client.datasets.rows(datasetId, {})) console.log(JSON.stringify(row))
const missing = await client.datasets.get(crypto.randomUUID()).catch((error) => error)
console.log(missing instanceof ApiError, missing.status, missing.code)
