// A process that sends large bodies to a server from several connections at once, so that the server's own CPU can be measured.
import { Agent, request } from 'node:http'

type Order = {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  /** The body: `begin`, then `item` with commas between up to `bytes`, then `end`. */
  readonly begin: string
  readonly item: string
  readonly end: string
  readonly bytes: number
  readonly clients: number
  readonly times: number
}

process.on('message', (order: Order) => {
  void send(order).then((statuses) => process.send?.(statuses))
})

async function send({ url, method, headers, begin, item, end, bytes, clients, times }: Order): Promise<number[]> {
  const count = Math.floor((bytes - begin.length - end.length) / (item.length + 1))
  const body = Buffer.from(`${begin}${`${item},`.repeat(count - 1)}${item}${end}`)
  const agent = new Agent({ keepAlive: false })
  const one = () =>
    new Promise<number>((resolve) => {
      const sent = request(url, { method, headers: { ...headers, 'content-length': body.length }, agent }, (answer) => {
        answer.resume().on('close', () => resolve(answer.statusCode ?? 0))
      })
      // A refusal may come while the body is still being sent.
      sent.on('error', () => resolve(0))
      sent.end(body)
    })
  const client = async () => {
    const statuses: number[] = []
    for (let time = 0; time < times; time++) statuses.push(await one())
    return statuses
  }
  return (await Promise.all(Array.from({ length: clients }, client))).flat()
}
