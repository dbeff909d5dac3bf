import {
  datasetsGet,
  datasetsInsertRows,
  datasetsList,
  datasetsQueryAdvanced,
  uploadsCreate,
  uploadsGet,
} from '../hey-api'
import { client } from '../hey-api/client.gen'
import { play, server } from './scenario'

client.setConfig({ baseUrl: server.url, auth: ({ name }) => (name === 'x-api-key' ? server.key : undefined) })

void play({
  async upload(file, name) {
    const { data } = await uploadsCreate({ body: { file, name, sourceSrid: '4326' }, throwOnError: true })
    if (!('id' in data)) throw new Error('A preview.')
    return data.id
  },
  datasetOf: async (id) => (await uploadsGet({ path: { id }, throwOnError: true })).data.datasetId ?? undefined,
  async countAbove(id, population) {
    const body = { where: { population: { $gt: population } } }
    return ((await datasetsQueryAdvanced({ path: { id }, body, throwOnError: true })).data as unknown[]).length
  },
  insert: async (id, rows) => (await datasetsInsertRows({ path: { id }, body: rows, throwOnError: true })).data,
  async names(limit, offset) {
    const { data } = await datasetsList({ query: { limit, offset, sort: ['name'] }, throwOnError: true })
    return data.map(({ name }) => name)
  },
  async missing(id) {
    const { error, response } = await datasetsGet({ path: { id } })
    return { status: response?.status, type: error?.type, detail: error?.detail }
  },
})
