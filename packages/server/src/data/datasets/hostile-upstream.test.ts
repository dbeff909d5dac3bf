// One database is enough: what a web service answers is read and refused before one is asked.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { send } from '../../../testing/hostile-client.ts'
import { type MeteredServer, startMeteredServer } from '../../../testing/metered-server.ts'

const mebibyte = 1_048_576
/** The most that is read of an answer, less what is around the values. */
const room = 10 * mebibyte - 100
const maxTurnMs = 100
/** Answers are parsed in threads with heaps of their own: 510 MB were measured for lists in lists, which grow by half on a busy machine. */
const maxGrownBytes = 900_000_000

const json = { 'content-type': 'application/json' }
const repeated = (part: string): string => part.repeat(room / part.length)

function answer(response: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}): void {
  response.writeHead(200, { ...json, ...headers }).end(body)
}

/** As fast as it is read. */
function sendPieces(response: ServerResponse, piece: string, count: number): void {
  let left = count
  const go = (): void => {
    while (left-- > 0 && !response.destroyed) if (!response.write(piece)) return void response.once('drain', go)
    response.end()
  }
  go()
}

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'empty lists': (response) => answer(response, `[${repeated('[],')}[]]`),
  'empty objects': (response) => answer(response, `[${repeated('{},')}{}]`),
  'a million keys': (response) =>
    answer(response, `{${Array.from({ length: 1_000_000 }, (_, n) => `"${n.toString(36)}":0`).join()}}`),
  'rows with other keys each': (response) =>
    answer(response, `[${Array.from({ length: 600_000 }, (_, n) => `{"${n.toString(36)}":0}`).join()}]`),
  'brackets that do not close': (response) => answer(response, repeated('[')),
  'deep lists': (response) => answer(response, `${'['.repeat(room / 2)}${']'.repeat(room / 2)}`),
  'long digits': (response) => answer(response, `[${repeated('1')}]`),
  escapes: (response) => answer(response, `["${repeated('\\u0000')}"]`),
  'a geometry of a million positions': (response) => {
    const positions = `${'[1,2],'.repeat(1_000_000)}[1,2]`
    answer(response, `[{"geometry":{"type":"LineString","coordinates":[${positions}]}}]`)
  },
  'a hundred megabytes': (response) => sendPieces(response.writeHead(200, json), '[1],'.repeat(25_000), 1_000),
  'no end': (response) => sendPieces(response.writeHead(200, json), ' '.repeat(65_536), Number.POSITIVE_INFINITY),
  'a gzip bomb': (response) =>
    answer(response, gzipSync(Buffer.alloc(200 * mebibyte, '[')), { 'content-encoding': 'gzip' }),
  'many headers': (response) => {
    for (let n = 0; n < 5_000; n++) response.setHeader(`x-${n}`, 'y'.repeat(100))
    answer(response, '[]')
  },
  'rows of CSV without end of a text': (response) =>
    answer(response, `a\n"${repeated('x\n')}`, { 'content-type': 'text/csv' }),
  'columns of CSV': (response) => answer(response, `${repeated('a,')}a\n1`, { 'content-type': 'text/csv' }),
}

const upstream = createServer(({ url = '' }, response) => {
  response.on('error', () => undefined)
  answers[decodeURIComponent(url.slice(1))]?.(response)
})
let server: MeteredServer
let base = ''

before(async () => {
  server = await startMeteredServer()
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
})
after(async () => {
  upstream.closeAllConnections()
  upstream.close()
  await server.close()
})

describe('a web service that answers a dataset cannot stop the server or fill its memory', () => {
  for (const name of Object.keys(answers)) {
    test(name, async (t) => {
      const key = server.named('key.own.developer')
      const body = JSON.stringify({ type: 'rest', name: 'x', source: `${base}/${encodeURIComponent(name)}` })
      const inspect = () => send(server.url, 'POST', '/api/v1/datasets', { key, body })
      let turnMs = Number.POSITIVE_INFINITY
      // The least of three: a garbage collection may come in between.
      for (let n = 0; n < 3 && turnMs > maxTurnMs; n++) {
        const { cpuMs, longestTurnMs, grownBytes, result } = await server.measure(inspect)
        turnMs = Math.min(turnMs, longestTurnMs)
        const figures = `${Math.round(cpuMs)} ms of CPU, ${Math.round(longestTurnMs)} ms in one turn, ${Math.round(grownBytes / 1e6)} MB`
        t.diagnostic(`${result.status}, ${figures}: ${result.text.slice(0, 150)}`)
        assert.ok([201, 400, 502, 504].includes(result.status), result.text)
        assert.ok(grownBytes < maxGrownBytes, figures)
      }
      assert.ok(turnMs < maxTurnMs, `${Math.round(turnMs)} ms in one turn of the event loop`)
    })
  }
})
