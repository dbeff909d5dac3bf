import { formOf } from '../uploads.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
type Json = any
type ClientRequest = { readonly body?: object; readonly form?: FormData; readonly headers?: Record<string, string> }
type ClientAnswer = { readonly status: number; readonly bytes: Uint8Array; readonly body: Json }

export type UpgradeClient = ReturnType<typeof clientOf>

/** A client of a server of any release, with one key. All but `send` demand a success. */
export function clientOf(address: string, key: string) {
  async function send(
    method: string,
    path: string,
    { body, form, headers = {} }: ClientRequest = {},
  ): Promise<ClientAnswer> {
    const type = body && { 'content-type': 'application/json' }
    const payload = body ? JSON.stringify(body) : form
    const reply = await fetch(`${address}${path}`, {
      method,
      headers: { 'x-api-key': key, ...type, ...headers },
      ...(payload && { body: payload }),
    })
    const bytes = new Uint8Array(await reply.arrayBuffer())
    const isJson = /json/.test(reply.headers.get('content-type') ?? '') && bytes.length > 0
    return { status: reply.status, bytes, body: isJson ? JSON.parse(Buffer.from(bytes).toString()) : undefined }
  }

  async function call(method: string, path: string, sent: ClientRequest = {}): Promise<ClientAnswer> {
    const answer = await send(method, path, sent)
    if (answer.status < 300) return answer
    throw new Error(`${method} ${path}: ${answer.status} ${Buffer.from(answer.bytes).toString()}`)
  }

  const get = async (path: string, headers = {}): Promise<Json> => (await call('GET', path, { headers })).body

  /** The record of an upload once it has ended. */
  async function ended(id: string): Promise<Json> {
    for (;;) {
      const record = await get(`/api/v1/uploads/${id}`, { prefer: 'wait=20' })
      if (!['pending', 'processing'].includes(record.status)) return record
    }
  }

  /** The record of an upload that the server has accepted. */
  const sendFile = async (name: string, bytes: string | Uint8Array): Promise<Json> =>
    (await call('POST', '/api/v1/uploads', { form: formOf({ name, bytes }) })).body

  return {
    send,
    call,
    get,
    ended,
    sendFile,
    withKey: (other: string) => clientOf(address, other),
    make: async (path: string, body: object): Promise<Json> => (await call('POST', `/api/v1/${path}`, { body })).body,
    bytes: async (path: string): Promise<Uint8Array> => (await call('GET', path)).bytes,
    upload: async (name: string, bytes: string | Uint8Array) => ended((await sendFile(name, bytes)).id),
  }
}

/** Points along a line, as GeoJSON. */
export function pointsGeoJson(count: number): string {
  const features = Array.from({ length: count }, (_, index) => ({
    type: 'Feature',
    properties: {
      name: `berth ${index}`,
      depth: index / 4,
      opened: `2025-01-${String((index % 28) + 1).padStart(2, '0')}`,
    },
    geometry: { type: 'Point', coordinates: [-170 + (index * 340) / count, (index % 120) - 60] },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features })
}
