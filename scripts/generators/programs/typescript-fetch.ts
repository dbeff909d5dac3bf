import { Configuration, DatasetsApi, ResponseError, UploadsApi } from '../typescript-fetch'
import { play, server } from './scenario'

const configuration = new Configuration({ basePath: server.url, apiKey: server.key })
const datasets = new DatasetsApi(configuration)
const uploads = new UploadsApi(configuration)

void play({
  async upload(file, name) {
    const upload = await uploads.uploadsCreate({ file, name, sourceSrid: '4326' })
    if (!('id' in upload)) throw new Error('A preview.')
    return upload.id
  },
  datasetOf: async (id) => (await uploads.uploadsGet({ id })).datasetId ?? undefined,
  async countAbove(id, population) {
    const datasetsQueryAdvancedBody = { where: { population: { $gt: population } } }
    return ((await datasets.datasetsQueryAdvanced({ id, datasetsQueryAdvancedBody })) as unknown[]).length
  },
  // Of a body that is an object or a list, this generator knows the object.
  insert: (id, rows) => datasets.datasetsInsertRows({ id, requestBody: rows as unknown as Record<string, unknown> }),
  names: async (limit, offset) =>
    (await datasets.datasetsList({ limit, offset, sort: ['name'] })).map(({ name }) => name),
  async missing(id) {
    const error = await datasets.datasetsGet({ id }).catch((thrown: unknown) => thrown)
    if (!(error instanceof ResponseError)) throw error
    const { type, detail } = await error.response.json()
    return { status: error.response.status, type, detail }
  },
})
