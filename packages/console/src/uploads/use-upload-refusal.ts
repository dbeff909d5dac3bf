/** Why the current credentials cannot upload files; undefined if they can. */
import { useRefusal, useSession } from '../session/session.tsx'

export function useUploadRefusal(): string | undefined {
  const { access } = useSession()
  const refusal = useRefusal()
  if (!access.application) return 'This master key works in all applications. Choose one first.'
  return refusal('uploads', 'execute')
}
