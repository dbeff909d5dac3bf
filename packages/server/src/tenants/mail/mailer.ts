import { randomUUID } from 'node:crypto'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type MailContent, oneLine, renderTemplate, type TemplateName, type Values } from './templates.ts'
import { createMailTransport, isAddress, type Mail, type MailAttempt } from './transport.ts'

export type TemplateMail = { applicationId: string; template: TemplateName; to: string; values: Values }

export type Mailer = {
  /** Transactional outbox: writes a mail in the caller's transaction; it is sent after the commit. Returns its id. */
  send(tx: Queryable, mail: TemplateMail): Promise<string>
  /** Sends one now; without a mail server it is put into the outbox. */
  deliver(mail: Mail & { applicationId: string }): Promise<MailAttempt>
  /** Decrypts a mail of the outbox. */
  read(sealed: string | null, id: string): MailContent | undefined
  close(): void
}

/** Registers a table of outgoing rows with the sender. */
type Register = (outgoing: {
  table: 'outbox'
  delaysSeconds: readonly number[]
  concurrency: number
  perApplication: number
  attempt(id: string): Promise<MailAttempt>
  settle(tx: Queryable, id: string, status: 'delivered' | 'failed'): Promise<void>
}) => { announceSoon(): void }

export type MailerOptions = {
  db: Db
  secrets: Secrets
  smtpUrl: string | undefined
  from: string
  register: Register
  delaysSeconds?: readonly number[]
}

/** Mail servers are down longer than web services, and a link is good for a day. */
const defaultDelays = [1, 5, 25, 120, 600, 3_600, 14_400]

export function createMailer({ db, secrets, smtpUrl, from, register, ...options }: MailerOptions): Mailer {
  const transport = smtpUrl === undefined ? undefined : createMailTransport(smtpUrl, from)
  const read = (sealed: string | null, id: string): MailContent | undefined =>
    sealed === null ? undefined : JSON.parse(secrets.open(sealed, associatedData(id)))

  async function attempt(id: string): Promise<MailAttempt> {
    const [row] = await db.query<{ recipients: string[]; content: string | null }>(
      sql`SELECT recipients, content FROM svc.outbox WHERE id = ${id}::uuid`,
    )
    const content = row && read(row.content, id)
    if (!row || !content) return { error: 'The mail has no content to send.', isFinal: true }
    // Written by a replica that has a mail server; this one has none.
    if (!transport) return { error: 'SMTP_URL is not set.' }
    return transport.send({ id, to: row.recipients, ...content })
  }

  const { announceSoon } = register({
    table: 'outbox',
    delaysSeconds: options.delaysSeconds ?? defaultDelays,
    concurrency: 4,
    perApplication: 2,
    attempt,
    settle: async (tx, id) => void (await tx.query(sql`UPDATE svc.outbox SET content = NULL WHERE id = ${id}::uuid`)),
  })

  async function store(tx: Queryable, applicationId: string, template: string, mail: Mail): Promise<void> {
    const { id, to, ...content } = mail
    await tx.query(sql`
      INSERT INTO svc.outbox (id, application_id, template, recipients, content, status)
      VALUES (${id}::uuid, ${applicationId}::uuid, ${template}, ${to}::text[],
        ${secrets.seal(JSON.stringify(content), associatedData(id))}, ${transport ? 'pending' : 'kept'})
      ON CONFLICT (id) DO NOTHING`)
  }

  return {
    async send(tx, { applicationId, template, to, values }) {
      if (!isAddress(to))
        throw new ApiError('invalid_request', 'The recipient must be an e-mail address such as name@example.org.')
      const [application] = await tx.query<{ name: string; metadata: unknown }>(
        sql`SELECT name, metadata FROM svc.applications WHERE id = ${applicationId}::uuid`,
      )
      const variables = { application: application?.name ?? '', email: to, ...values }
      const id = randomUUID()
      const content = renderTemplate(template, application?.metadata, variables)
      await store(tx, applicationId, template, { id, to: [to], ...content })
      if (transport) announceSoon()
      return id
    },
    async deliver({ applicationId, ...mail }) {
      const safe = { ...mail, subject: oneLine(mail.subject) }
      if (!mail.to.every(isAddress)) return { error: 'A recipient is not an e-mail address.', isFinal: true }
      if (transport) return transport.send(safe)
      await store(db, applicationId, 'message', safe)
      return {}
    },
    read,
    close: () => transport?.close(),
  }
}

const associatedData = (id: string): string => `outbox.content.${id}`
