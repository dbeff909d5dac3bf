import createClient from 'openapi-fetch'
import type { paths } from '../openapi-typescript'
import { play, server } from './scenario'

const client = createClient<paths>({ baseUrl: server.url, headers: { 'x-api-key': server.key } })

void play({
  async upload(file, name) {
    const { data, error } = await client.POST('/api/v1/uploads', {
      body: { file: file as unknown as string, name },
      bodySerializer({ file, name }) {
        const form = new FormData()
        form.set('file', file as unknown as File)
        if (name !== undefined) form.set('name', name)
        return form
      },
    })
    if (!data || !('id' in data)) throw new Error(error?.detail)
    return data.id
  },
  async datasetOf(id) {
    const { data } = await client.GET('/api/v1/uploads/{id}', { params: { path: { id } } })
    return data?.datasetId ?? undefined
  },
  async countAbove(id, population) {
    const body = { where: { population: { $gt: population } } }
    const { data } = await client.POST('/api/v1/datasets/{id}/query', { params: { path: { id } }, body })
    return (data as unknown[]).length
  },
  async insert(id, rows) {
    const { data, error } = await client.POST('/api/v1/datasets/{id}/rows', { params: { path: { id } }, body: rows })
    return data ?? error
  },
  async names(limit, offset) {
    const { data = [] } = await client.GET('/api/v1/datasets', { params: { query: { limit, offset, sort: ['name'] } } })
    return data.map(({ name }) => name)
  },
  async missing(id) {
    const { error, response } = await client.GET('/api/v1/datasets/{id}', { params: { path: { id } } })
    return { status: response.status, type: error?.type, detail: error?.detail }
  },
})
