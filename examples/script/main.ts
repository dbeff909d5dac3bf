// Uploads a file of earthquakes, waits until it is a dataset, asks for the strongest and for a summary, and prints both.
import { openAsBlob } from 'node:fs'
import { createClient } from '@graticule/client'

interface Earthquake {
  place: string
  magnitude: number
  depth: number
}

const { GRATICULE_URL = 'http://localhost:8080', GRATICULE_API_KEY = null } = process.env
const client = createClient(GRATICULE_URL, GRATICULE_API_KEY)

const file = await openAsBlob(new URL('./earthquakes.geojson', import.meta.url))
const sent = await client.uploads.upload(
  file,
  { fileName: 'earthquakes.geojson', name: 'Earthquakes' },
  { onProgress: ({ loaded, total }) => console.log(`Sent ${loaded} of ${total} bytes`) },
)
const { datasetId, featureCount } = await client.uploads.wait(sent.id)
if (datasetId === null) throw new Error('The file holds no features.')
console.log(`${featureCount} earthquakes are now the dataset ${datasetId}.\n`)

const query = { where: { magnitude: { $gte: 8.5 } }, order: ['-magnitude'] }
for await (const { place, magnitude, depth } of client.datasets.rows<Earthquake>(datasetId, query)) {
  console.log(`${magnitude.toFixed(1)}  ${place}, ${depth} km deep`)
}

type Summary = { count: number; deepest: number }
const attributes = ['count(*) as count', 'max(depth) as deepest']
const [summary] = await client.datasets.query<Summary>(datasetId, { attributes })
console.log(`\nThe deepest of ${summary?.count} lay ${summary?.deepest} km below the ground.`)
console.log(`Its tiles: ${client.tiles.url(datasetId)}`)
