// What every client does. Each program gives the steps as its generator writes them; what they find must be the same.
export interface Steps {
  upload(file: File, name: string): Promise<string>
  /** The id of its dataset, once the upload has ended. */
  datasetOf(upload: string): Promise<string | undefined>
  /** How many rows have a population above this. */
  countAbove(dataset: string, population: number): Promise<unknown>
  insert(dataset: string, rows: Record<string, unknown>[]): Promise<unknown>
  names(limit: number, offset: number): Promise<string[]>
  /** The status, the type and the detail of the answer for a dataset that does not exist. */
  missing(id: string): Promise<unknown>
}

const feature = (name: string, population: number, coordinates: number[]) => ({
  type: 'Feature',
  properties: { name, population },
  geometry: { type: 'Point', coordinates },
})

const cities = {
  type: 'FeatureCollection',
  features: [feature('Oslo', 717_710, [10.75, 59.91]), feature('Bergen', 291_940, [5.32, 60.39])],
}

export async function play(steps: Steps): Promise<void> {
  const file = new File([JSON.stringify(cities)], 'cities.geojson', { type: 'application/geo+json' })
  const datasets: string[] = []
  for (const name of ['first', 'second', 'third']) {
    const upload = await steps.upload(file, name)
    const dataset = await until(() => steps.datasetOf(upload))
    datasets.push(dataset)
  }
  const [dataset = ''] = datasets
  const before = await steps.countAbove(dataset, 500_000)
  const inserted = await steps.insert(dataset, [
    { name: 'Malmö', population: 362_133, geom: { type: 'Point', coordinates: [13, 55.6] } },
    { name: 'København', population: 1_400_000, geom: null },
  ])
  console.log(
    JSON.stringify({
      before,
      inserted,
      after: await steps.countAbove(dataset, 500_000),
      pages: [await steps.names(2, 0), await steps.names(2, 2)],
      missing: await steps.missing('00000000-0000-4000-8000-000000000000'),
    }),
  )
}

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 600; tries++) {
    const value = await look()
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The upload did not end.')
}

export const server = { url: process.env.SERVER_URL ?? '', key: process.env.SERVER_KEY ?? '' }
