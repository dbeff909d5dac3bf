// The limit: node:http and a map of answers, each as it was recorded.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { deserialize } from 'node:v8'
import type { RecordedAnswer } from '../record-answers.ts'

const answers: Map<string, RecordedAnswer> = deserialize(readFileSync(process.env.ANSWERS ?? ''))
answers.set('/ready', { status: 200, headers: {}, body: Buffer.alloc(0) })

createServer(({ url = '' }, response) => {
  const { status, headers, body } = answers.get(url) ?? { status: 404, headers: {}, body: Buffer.alloc(0) }
  response.writeHead(status, headers).end(body)
}).listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit())
