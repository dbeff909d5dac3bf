import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type WebSocket, WebSocketServer } from 'ws'

// The least that can carry an answer from a worker's WebSocket to a client: no keys, no limits, no history.
let worker: WebSocket | undefined
type Pending = { response: ServerResponse; isStream: boolean; output: string }
const pending = new Map<string, Pending>()

const server = createServer(async (request, response) => {
  if (request.url === '/ready') return void response.end()
  const { input } = JSON.parse(await text(request)) as { input: string }
  const id = randomUUID()
  const isStream = request.url?.endsWith('/stream') ?? false
  pending.set(id, { response, isStream, output: '' })
  worker?.send(JSON.stringify({ t: 'invoke', id, mode: isStream ? 'stream' : 'invoke', input, window: 262_144 }))
})

function read(frame: { t: string; id: string; text: string }): void {
  const one = pending.get(frame.id)
  if (!one) return
  const { response, isStream } = one
  if (frame.t === 'accept' && isStream) response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (frame.t === 'delta') {
    if (isStream) response.write(`event: delta\ndata: ${JSON.stringify({ text: frame.text })}\n\n`)
    else one.output += frame.text
  }
  if (frame.t !== 'done') return
  pending.delete(frame.id)
  if (isStream) return void response.end('event: done\ndata: {}\n\n')
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text: one.output }))
}

new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  worker = socket
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString())
    if (frame.t === 'hello') socket.send(JSON.stringify({ t: 'welcome' }))
    else read(frame)
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit())
