// One database is enough: what a web service answers is read and refused before one is asked.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { cpuSlack } from '../../../testing/hostile/cpu-allowance.ts'
import { type HostileAnswer, send } from '../../../testing/hostile/hostile-client.ts'
import { type MeteredServer, startMeteredServer } from '../../../testing/processes/metered-server.ts'

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

type Send = (response: ServerResponse) => void

/** Costly to parse: for a run of everything, besides the few that a usual one has. */
const largeAnswers: Readonly<Record<string, Send>> = {
  'empty lists': (response) => answer(response, `[${repeated('[],')}[]]`),
  'empty objects': (response) => answer(response, `[${repeated('{},')}{}]`),
  'a million keys': (response) =>
    answer(response, `{${Array.from({ length: 1_000_000 }, (_, n) => `"${n.toString(36)}":0`).join()}}`),
  'rows with other keys each': (response) =>
    answer(response, `[${Array.from({ length: 600_000 }, (_, n) => `{"${n.toString(36)}":0}`).join()}]`),
  'deep lists': (response) => answer(response, `${'['.repeat(room / 2)}${']'.repeat(room / 2)}`),
  'long digits': (response) => answer(response, `[${repeated('1')}]`),
  escapes: (response) => answer(response, `["${repeated('\\u0000')}"]`),
  'a geometry of a million positions': (response) => {
    const positions = `${'[1,2],'.repeat(1_000_000)}[1,2]`
    answer(response, `[{"geometry":{"type":"LineString","coordinates":[${positions}]}}]`)
  },
  'a hundred megabytes': (response) => sendPieces(response.writeHead(200, json), '[1],'.repeat(25_000), 1_000),
  'rows of CSV without end of a text': (response) =>
    answer(response, `a\n"${repeated('x\n')}`, { 'content-type': 'text/csv' }),
  'brackets that do not close': (response) => answer(response, repeated('[')),
  'a byte every tenth of a second': (response) => {
    response.writeHead(200, json)
    const timer = setInterval(() => response.write(' '), 100)
    response.on('close', () => clearInterval(timer))
  },
}

const answers: Readonly<Record<string, Send>> = {
  'no end': (response) => sendPieces(response.writeHead(200, json), ' '.repeat(65_536), Number.POSITIVE_INFINITY),
  'a gzip bomb': (response) =>
    answer(response, gzipSync(Buffer.alloc(20 * mebibyte, '[')), { 'content-encoding': 'gzip' }),
  'a longer length than its own': (response) => {
    response.writeHead(200, { ...json, 'content-length': '1000000' }).write('[1,')
    setTimeout(() => response.destroy(), 50)
  },
  'a shorter length than its own': (response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n[1]]]]]]')
  },
  'bytes one by one': (response) => {
    response.writeHead(200, json).flushHeaders()
    response.socket?.write('1\r\n \r\n'.repeat(200_000))
    response.socket?.end('0\r\n\r\n')
  },
  'redirects without end': (response) =>
    void response.writeHead(302, { location: `${base}/${encodeURIComponent('redirects without end')}` }).end(),
  'bytes that are no text': (response) => answer(response, Buffer.alloc(100_000, 0xff)),
  'many headers': (response) => {
    for (let n = 0; n < 5_000; n++) response.setHeader(`x-${n}`, 'y'.repeat(100))
    answer(response, '[]')
  },
  'columns of CSV': (response) => answer(response, `${repeated('a,')}a\n1`, { 'content-type': 'text/csv' }),
}

const events = { 'content-type': 'text/event-stream' }
const delta = (text: string): string => `event: delta\ndata: {"text":"${text}"}\n\n`

/** What a provider of models, or a web service that is an agent, may send as a stream. */
const streams: Readonly<Record<string, Send>> = {
  'events without end': (response) =>
    sendPieces(response.writeHead(200, events), delta('x'.repeat(1_000)).repeat(10), Number.POSITIVE_INFINITY),
  'comments without end': (response) =>
    sendPieces(response.writeHead(200, events), ': a\n\n'.repeat(1_000), Number.POSITIVE_INFINITY),
  'a line without end': (response) =>
    sendPieces(response.writeHead(200, events), `data: ${'x'.repeat(65_536)}`, Number.POSITIVE_INFINITY),
  'events of spaces': (response) =>
    sendPieces(response.writeHead(200, events), `event: delta\ndata: ${' '.repeat(4 * mebibyte)}\n\n`, 20),
  'an event of empty lists': (response) =>
    sendPieces(response.writeHead(200, events), `event: delta\ndata: [${'[],'.repeat(mebibyte)}[]]\n\n`, 1),
  'lines that are no events': (response) =>
    sendPieces(response.writeHead(200, events), 'x\n'.repeat(10_000), Number.POSITIVE_INFINITY),
  'nothing after the headers': (response) => response.writeHead(200, events).flushHeaders(),
  'JSON without end': (response) =>
    sendPieces(response.writeHead(200, json), ' '.repeat(65_536), Number.POSITIVE_INFINITY),
  'text without end': (response) =>
    sendPieces(response.writeHead(200, { 'content-type': 'text/plain' }), 'x'.repeat(65_536), Number.POSITIVE_INFINITY),
  'an error without end': (response) =>
    sendPieces(response.writeHead(500, json), 'x'.repeat(65_536), Number.POSITIVE_INFINITY),
}

/** A function of AWS Lambda has a name that is no text of any kind. */
const functionNames = Object.keys({ ...largeAnswers, ...answers })
const functionName = (name: string): string => `answer-${functionNames.indexOf(name)}`

function answerRequest(request: IncomingMessage, response: ServerResponse): void {
  response.on('error', () => undefined)
  const [, lambda] = /^\/2015-03-31\/functions\/answer-(\d+)\//.exec(request.url ?? '') ?? []
  const [, path = ''] = (request.url ?? '').split('/')
  const name = lambda === undefined ? decodeURIComponent(path) : (functionNames[Number(lambda)] ?? '')
  request.resume().on('end', () => ({ ...largeAnswers, ...answers, ...streams })[name]?.(response))
}

const webService = createServer(answerRequest)
/** At an address of its own: nobody but the server itself may reach that of LAMBDA_ENDPOINT. */
const functions = createServer(answerRequest)

async function listen(upstream: Server): Promise<string> {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
}
let server: MeteredServer
let base = ''
let slack: number

before(async () => {
  base = await listen(webService)
  server = await startMeteredServer({
    LAMBDA_FUNCTIONS: 'answer-*',
    LAMBDA_ENDPOINT: await listen(functions),
    AWS_ACCESS_KEY_ID: 'AKIATEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_REGION: 'eu-central-1',
    AGENT_BRIDGES: 'on',
    AGENT_OUTPUT_BYTES: '1000000',
  })
  slack = cpuSlack()
})
after(async () => {
  for (const upstream of [webService, functions]) {
    upstream.closeAllConnections()
    upstream.close()
  }
  await server.close()
})

const post = (path: string, body: object): Promise<HostileAnswer> =>
  send(server.url, 'POST', path, { key: server.named('key.own.developer'), body: JSON.stringify(body) })

/** The server answers with one of the statuses, does not fill its memory, and serves others meanwhile. */
async function survives(t: TestContext, ask: () => Promise<HostileAnswer>, statuses: readonly number[]): Promise<void> {
  let turnMs = Number.POSITIVE_INFINITY
  // The least of several: a garbage collection may come in between.
  for (let n = 0; n < 5 && turnMs > maxTurnMs * slack; n++) {
    const { cpuMs, longestTurnMs, grownBytes, result } = await server.measure(ask)
    turnMs = Math.min(turnMs, longestTurnMs)
    const figures = `${Math.round(cpuMs)} ms of CPU, ${Math.round(longestTurnMs)} ms in one turn, ${Math.round(grownBytes / 1e6)} MB`
    t.diagnostic(`${result.status}, ${figures}: ${result.text.slice(0, 150)}`)
    assert.ok(statuses.includes(result.status), `${result.status} ${result.text.slice(0, 500)}`)
    assert.ok(grownBytes < maxGrownBytes, figures)
  }
  assert.ok(turnMs < maxTurnMs * slack, `${Math.round(turnMs)} ms in one turn of the event loop`)
}

const isWholeRun = process.env.TEST_ALL !== undefined

describe('a web service that answers a dataset cannot stop the server or fill its memory', () => {
  for (const name of Object.keys(isWholeRun ? { ...answers, ...largeAnswers } : answers)) {
    test(name, (t) => {
      const body = { type: 'rest', name: 'x', source: `${base}/${encodeURIComponent(name)}` }
      return survives(t, () => post('/api/v1/datasets', body), [201, 400, 502, 504])
    })
  }
})

describe('a function that answers a dataset cannot stop the server or fill its memory', () => {
  const some = ['no end', 'many headers', 'bytes that are no text']
  // A function has the time of a query, and Lambda itself sends what it made: not one by one.
  const all = functionNames.filter((one) => !/tenth|one by one/.test(one))
  for (const name of isWholeRun ? all : some) {
    test(name, (t) => {
      const body = { type: 'lambda', name: 'x', source: functionName(name) }
      return survives(t, () => post('/api/v1/datasets', body), [201, 400, 502, 504])
    })
  }
})

describe('a provider that answers for an agent cannot stop the server or fill its memory', () => {
  const kinds = { http: 'url', openai: 'baseURL', anthropic: 'baseURL', ollama: 'baseURL' }
  const kindsOfRun = isWholeRun ? Object.entries(kinds) : Object.entries(kinds).slice(0, 2)
  const some = [
    'a gzip bomb',
    'many headers',
    'bytes one by one',
    'redirects without end',
    'a longer length than its own',
  ]
  for (const [type, setting] of kindsOfRun) {
    for (const name of [...Object.keys(streams), ...some]) {
      test(`${type}: ${name}`, async (t) => {
        const config = { [setting]: `${base}/${encodeURIComponent(name)}`, ...(type !== 'http' && { model: 'm' }) }
        const made = await post('/api/v1/agents', { name: `${type} ${name}`, type, config })
        assert.equal(made.status, 201, made.text)
        const path = `/api/v1/agents/${JSON.parse(made.text).id}/invoke`
        const ask = () => post(path, { input: 'x', timeoutMs: 1_000 })
        await survives(t, ask, [500, 502, 504])
      })
    }
  }
})
