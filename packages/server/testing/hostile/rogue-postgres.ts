import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

// PostgreSQL servers that do not keep to the protocol: scripted ones, and ones that say what a real server once said.

/** A message: its code, its length and its body. */
export function message(code: string, body: Uint8Array | string = ''): Buffer {
  const bytes = Buffer.from(body)
  const header = Buffer.alloc(5)
  header.write(code)
  header.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([header, bytes])
}

/** A message that announces another length than it has. */
export function lying(code: string, length: number, body: Uint8Array | string = ''): Buffer {
  const bytes = message(code, body)
  bytes.writeInt32BE(length, 1)
  return bytes
}

export const authenticationOk = message('R', Buffer.alloc(4))
const backendKey = message('K', Buffer.alloc(8, 1))
export const ready = message('Z', 'I')
export const loggedIn = Buffer.concat([authenticationOk, backendKey, ready])
export const complete = (command = 'SET'): Buffer => Buffer.concat([message('C', `${command}\0`), ready])

/** What a client says, one message at a time; `code` is empty for the first ones, which have none. */
export type ClientMessage = { readonly code: string; readonly body: Buffer }

export type Rogue = { readonly port: number; readonly connections: number; close(): Promise<void> }

/** A server for each of whose connections `talk` is called once, and its answer for each message. */
export async function startRogue(talk: (socket: Socket) => (heard: ClientMessage) => void): Promise<Rogue> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    const answer = talk(socket)
    socket.on('data', frames(answer))
  })
  return {
    port: await listen(server),
    get connections() {
      return connections
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const sslRequestCode = 80_877_103

/** Cuts what a client says into messages. */
function frames(hear: (heard: ClientMessage) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let hasStarted = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const lengthAt = hasStarted ? 1 : 0
      if (rest.length < lengthAt + 4) return
      const end = lengthAt + rest.readInt32BE(lengthAt)
      if (rest.length < end) return
      const body = rest.subarray(lengthAt + 4, end)
      const code = hasStarted ? rest.toString('latin1', 0, 1) : ''
      // After a request for TLS comes another message without a code.
      hasStarted = hasStarted || body.readInt32BE(0) !== sslRequestCode
      rest = rest.subarray(end)
      hear({ code, body })
    }
  }
}

export const isSslRequest = ({ code, body }: ClientMessage): boolean =>
  code === '' && body.readInt32BE(0) === sslRequestCode

/** Says `login` to whoever connects and `answer` to each statement. */
export const sayAlways =
  (login: Uint8Array, answer: Uint8Array) =>
  (socket: Socket) =>
  ({ code }: ClientMessage): void => {
    if (code === '') socket.write(login)
    else if (code === 'Q' || code === 'S') socket.write(answer)
  }

/** What a server answered to what: the key is all that the client said since the last answer it waited for. */
export type Recording = Map<string, Buffer>

/** The messages after which a client waits for an answer. */
const waitsAfter = new Set(['', 'p', 'Q', 'S', 'c'])

/** Stands between a client and a real server, and notes what the server says. */
export async function startRecorder(target: { host: string; port: number }, recording: Recording): Promise<Rogue> {
  return startRogue((socket) => {
    const upstream = connect(target.port, target.host)
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
    socket.on('data', (chunk: Buffer) => upstream.write(chunk))
    let question = ''
    let answered = ''
    upstream.on('data', (chunk: Buffer) => {
      recording.set(answered, Buffer.concat([recording.get(answered) ?? Buffer.alloc(0), chunk]))
      socket.write(chunk)
    })
    return ({ code, body }) => {
      question += `${code}${body.toString('latin1')}`
      if (!waitsAfter.has(code)) return
      answered = question
      recording.delete(answered)
      question = ''
    }
  })
}

/** Says what was recorded, after `mutate` has seen it; what was never asked gets any of the answers. */
export async function startReplay(recording: Recording, mutate: (connection: number) => Mutation): Promise<Rogue> {
  const all = [...recording.values()]
  let number = 0
  return startRogue((socket) => {
    const change = mutate(number++)
    let question = ''
    let timer: NodeJS.Timeout | undefined
    return ({ code, body }) => {
      question += `${code}${body.toString('latin1')}`
      if (!waitsAfter.has(code)) return
      const answer = recording.get(question) ?? all[question.length % all.length] ?? ready
      question = ''
      for (const piece of change(answer)) socket.write(piece)
      // A client that waits for the rest of what was changed would wait until its time is over.
      clearTimeout(timer)
      if (change.isChanged()) timer = setTimeout(() => socket.destroy(), change.hangsUp ? 1 : 100)
    }
  })
}

/** What is said instead of an answer; whether any was changed, and whether the server hangs up at once then. */
export type Mutation = ((answer: Buffer) => Buffer[]) & { isChanged(): boolean; readonly hangsUp: boolean }
