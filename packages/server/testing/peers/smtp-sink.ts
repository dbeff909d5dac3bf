import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export type SunkMail = { from: string; to: string[]; raw: string; headers: Record<string, string>; body: string }
export type SmtpSink = { readonly url: string; readonly mails: SunkMail[]; close(): Promise<void> }

type Refusal = { code: number; message: string }

/** A mail server that keeps what it was sent. */
export async function smtpSink(
  refuse: (count: number, raw: string) => Refusal | undefined | Promise<Refusal | undefined> = () => undefined,
): Promise<SmtpSink> {
  const mails: SunkMail[] = []
  let count = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, { envelope }, done) {
      const raw = await text(stream)
      const refusal = await refuse(++count, raw)
      if (refusal) return done(Object.assign(new Error(refusal.message), { responseCode: refusal.code }))
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw, ...parse(raw) })
      done()
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function parse(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  return { headers, body: raw.slice(end + 4) }
}
