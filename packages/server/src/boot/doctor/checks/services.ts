import { connect } from 'node:net'
import { connectTo } from '../../../kernel/bus/nats-bus.ts'
import { codeOf } from '../../../kernel/db/database-error.ts'
import { type Check, type Finding, fault, messageOf, ok, warning } from '../check.ts'

/** Other servers: the broker, the mail server, the collector of telemetry. Nothing is sent to them. */
export const serviceChecks: readonly Check[] = [
  {
    name: 'nats',
    applies: ({ NATS_URL }) => NATS_URL !== undefined,
    async run({ config: { NATS_URL: url = '' } }) {
      try {
        const nats = await connectTo(url)
        const ms = await nats.rtt()
        await nats.close()
        return ok(`NATS at ${new URL(url).host} answers in ${ms} ms.`)
      } catch (error) {
        return fault(
          messageOf(error),
          'Start NATS, or correct NATS_URL; without it a replica knows only its own agents.',
        )
      }
    },
  },
  {
    name: 'smtp',
    applies: ({ SMTP_URL }) => SMTP_URL !== undefined,
    async run({ config: { SMTP_URL: url = '', MAIL_FROM } }) {
      const { createTransport } = await import('nodemailer')
      const times = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 5_000 }
      const transport = createTransport({ url, ...times })
      try {
        await transport.verify()
      } catch (error) {
        return refusedMail(error, new URL(url).host)
      } finally {
        transport.close()
      }
      const text = `The mail server at ${new URL(url).host} greets${new URL(url).username ? ' and accepts the login' : ''}.`
      if (/@localhost>?$/.test(MAIL_FROM))
        return warning(
          `${text} MAIL_FROM is ${MAIL_FROM}, which many receivers refuse.`,
          'Set MAIL_FROM to an address of yours.',
        )
      return ok(text)
    },
  },
  {
    name: 'telemetry',
    applies: ({ OTEL_EXPORTER_OTLP_ENDPOINT }) => OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
    async run({ config: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = '' } }) {
      const { hostname, port, protocol, host } = new URL(endpoint)
      const isThere = await answers(hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
      if (isThere) return ok(`The collector at ${host} accepts connections.`)
      return warning(
        `The collector at ${host} cannot be reached: traces and metrics are lost.`,
        'Start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT; OTLP over HTTP is mostly on port 4318.',
      )
    },
  },
]

const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 5_000 })
    const settle = (isThere: boolean) => () => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', settle(true)).once('error', settle(false)).once('timeout', settle(false))
  })

function refusedMail(error: unknown, host: string): Finding {
  const mends: Record<string, string> = {
    EAUTH: 'Correct the user and the password in SMTP_URL.',
    ETLS: 'Use smtps:// and port 465, or a server with a valid certificate.',
    ESOCKET: 'Correct the host and the port in SMTP_URL, or the firewall in between.',
    ECONNECTION: 'Correct the host and the port in SMTP_URL, or the firewall in between.',
  }
  const mend = mends[codeOf(error)] ?? 'Ask whoever runs the mail server; the text above is what it said.'
  return fault(`The mail server at ${host} cannot be used: ${messageOf(error)}`, mend)
}
