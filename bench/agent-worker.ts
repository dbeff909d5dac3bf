import { WebSocket } from 'ws'

// A worker that answers at once, or with a delta every so many milliseconds that says when it was made.
const { URL = '', KEY = '' } = process.env
const socket = new WebSocket(URL, 'svc.agent.v1', { headers: { 'x-api-key': KEY } })
const send = (frame: object) => socket.send(JSON.stringify(frame))
const now = () => performance.timeOrigin + performance.now()

function stream(id: string, count: number, everyMs: number): void {
  let sent = 0
  const timer = setInterval(() => {
    if (sent === count) {
      clearInterval(timer)
      return send({ t: 'done', id })
    }
    send({ t: 'delta', id, text: `${sent} ${now()}` })
    sent += 1
  }, everyMs)
}

socket.on('open', () => send({ t: 'hello', protocol: 1, workerId: 'bench', concurrency: 1_000, sdk: 'bench' }))
socket.on('message', (data) => {
  const frame = JSON.parse(data.toString()) as { t: string; id: string; input: string }
  if (frame.t === 'welcome') console.log('ready')
  if (frame.t !== 'invoke') return
  const { id, input } = frame
  const [what, count, everyMs] = input.split(' ')
  send({ t: 'accept', id })
  if (what === 'stream') return stream(id, Number(count), Number(everyMs))
  send({ t: 'delta', id, text: input })
  send({ t: 'done', id })
})
