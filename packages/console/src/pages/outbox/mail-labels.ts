/** Labels for the templates and states of mails. */
import type { OutboxEntry } from '@graticule/client'

export const mailDots = { pending: 'warn', delivered: 'ok', failed: 'danger', kept: 'off' } as const satisfies Record<
  OutboxEntry['status'],
  string
>

export const statusLabels: Readonly<Record<OutboxEntry['status'], string>> = {
  pending: 'waits to be sent',
  delivered: 'sent; its words are not kept',
  failed: 'could not be sent; its words are not kept',
  kept: 'kept here, because the server has no SMTP_URL',
}

const templates: Readonly<Record<string, string>> = {
  confirm: 'Confirmation of an address',
  reset: 'Password reset',
  message: 'Message of a contact point',
}

export const templateLabel = (template: string): string => templates[template] ?? template

const linkLabels: Readonly<Record<string, string>> = { confirm: 'Confirm the address', reset: 'Choose a new password' }

export const linkLabel = (template: string): string => linkLabels[template] ?? 'Open the link'
