import { request } from 'node:http'

export type HostileRequest = {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

export type HostileAnswer = { readonly status: number; readonly text: string }

const patienceMs = 60_000

/** One request over a connection of its own. A connection that the server ends while the body is sent is status 0. */
export function send(url: string, method: string, path: string, given: HostileRequest): Promise<HostileAnswer> {
  const { key, headers = {}, body } = given
  const all = {
    ...(key !== undefined && { 'x-api-key': key }),
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }
  return new Promise((resolve) => {
    const asked = request(url + path, { method, headers: all, agent: false, maxHeaderSize: 131_072 })
    const fail = (error: Error): void => resolve({ status: 0, text: error.message })
    asked.on('error', fail)
    asked.setTimeout(patienceMs, () => asked.destroy(new Error('no answer')))
    asked.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece)).on('error', fail)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }))
    })
    asked.end(body)
  })
}
