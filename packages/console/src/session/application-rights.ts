/** What the key may see of its own application; a master key that has chosen none, of any. */
import { useMay, useSession } from './session.tsx'

/** The audit log is for those who may change the application. */
export function useMayReadActivity(): boolean {
  const { access } = useSession()
  return useMay()('applications', 'write', access.application?.id)
}

export function useMayReadUsage(): boolean {
  const { access } = useSession()
  return useMay()('applications', 'read', access.application?.id)
}
