/** The secondary pages of the rail. The outbox is shown only if the key can read it and the server has no SMTP. */
import { useOutbox } from '../pages/outbox/outbox-query.ts'
import { type Destination, otherPages } from './navigation.ts'

export function useOtherPages(): readonly Destination[] {
  const { data: mails } = useOutbox()
  // Mails are stored only on a server without SMTP.
  const isUsed = mails !== undefined && (mails.length === 0 || mails.some(({ status }) => status === 'kept'))
  return isUsed ? otherPages : otherPages.filter(({ to }) => to !== '/outbox')
}
