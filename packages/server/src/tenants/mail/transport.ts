import { StartError } from '../../kernel/errors.ts'
import type { MailContent } from './templates.ts'

/** A mail as it goes to the server. The id becomes the Message-ID, so that receivers can tell a second copy. */
export type Mail = MailContent & { readonly id: string; readonly to: readonly string[] }

export type MailAttempt = { readonly statusCode?: number; readonly error?: string; readonly isFinal?: boolean }

export type Transport = {
  send(mail: Mail): Promise<MailAttempt>
  close(): void
}

const address = /^[^\s@<>()[\],;:\\"\p{Cc}]{1,64}@[^\s@<>()[\],;:\\"\p{Cc}]{1,255}$/u

/** One plain address: no names, no lists, no line breaks. */
export const isAddress = (text: string): boolean => address.test(text)

export function createMailTransport(url: string, from: string): Transport {
  const sender = readSender(from)
  let opened: ReturnType<typeof openTransporter> | undefined
  const transporter = () => {
    opened ??= openTransporter(url)
    return opened
  }
  return {
    async send({ id, to, subject, text, html }) {
      try {
        const info = await (await transporter()).sendMail({
          from: sender,
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          html,
          messageId: `<${id}@${sender.address.split('@')[1]}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        return { statusCode: Number(/^\d{3}/.exec(info.response)?.[0] ?? 250) }
      } catch (error) {
        return failure(error)
      }
    },
    close: () => void opened?.then((transport) => transport.close()),
  }
}

/** The library takes 6 MB of heap, so it is loaded with the first mail. */
async function openTransporter(url: string) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    pool: true,
    // As many as are sent at once, so that none waits for another.
    maxConnections: 20,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** `Name <address>` or an address. */
function readSender(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^\s*"?([^"<]*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? []
  if (!isAddress(address.trim()) || /\p{Cc}/u.test(name))
    throw new StartError('MAIL_FROM must be an e-mail address such as maps@example.org or Maps <maps@example.org>.')
  return { name, address: address.trim() }
}

/** Permanent refusals are not retried. The message of the server may hold anything, so it is shortened. */
function failure(error: unknown): MailAttempt {
  const { responseCode, response, code } = error as { responseCode?: number; response?: string; code?: string }
  if (typeof responseCode !== 'number') {
    return { error: `The mail server could not be reached (${String(code ?? 'unknown').slice(0, 40)}).` }
  }
  const isFinal = responseCode >= 500 && code !== 'EAUTH'
  return { statusCode: responseCode, isFinal, error: `The mail server refused: ${String(response).slice(0, 500)}` }
}
