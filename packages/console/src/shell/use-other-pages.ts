/** The secondary pages of the rail and the palette: those that the key can read. */
import { useMayReadActivity, useMayReadUsage } from '../session/application-rights.ts'
import { useSession } from '../session/session.tsx'
import { type Destination, otherPages } from './navigation.ts'

export function useOtherPages(): readonly Destination[] {
  const { access } = useSession()
  const isShown: Readonly<Record<string, boolean>> = {
    '/outbox': access.type === 'master',
    '/activity': useMayReadActivity(),
    '/usage': useMayReadUsage(),
  }
  return otherPages.filter(({ to }) => isShown[to] ?? true)
}
