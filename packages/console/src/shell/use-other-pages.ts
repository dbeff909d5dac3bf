/**
 * The secondary pages of the rail and the palette. The outbox is among them only if the key can read it and the server has
 * no SMTP, activity and usage only if the key can read them.
 */
import { useOutbox } from '../pages/outbox/outbox-query.ts'
import { useMayReadActivity, useMayReadUsage } from '../session/application-rights.ts'
import { type Destination, otherPages } from './navigation.ts'

export function useOtherPages(): readonly Destination[] {
  const { data: mails } = useOutbox()
  // Mails are stored only on a server without SMTP.
  const hasOutbox = mails !== undefined && (mails.length === 0 || mails.some(({ status }) => status === 'kept'))
  const isShown: Readonly<Record<string, boolean>> = {
    '/outbox': hasOutbox,
    '/activity': useMayReadActivity(),
    '/usage': useMayReadUsage(),
  }
  return otherPages.filter(({ to }) => isShown[to] ?? true)
}
