/** Who may come by a provider, in a sentence. */
import { list } from '../acl/acl-sentence.ts'

interface AdmissionRules {
  emailDomains: readonly string[]
  createsUsers: boolean
  linksUsers: boolean
}

export function whoMayCome({ emailDomains, createsUsers, linksUsers }: AdmissionRules): string {
  if (!createsUsers && !linksUsers) return 'Nobody new: only users who have come by it before.'
  const everybody = emailDomains.length === 0 ? 'Everybody it signs in' : `Everybody at ${list(emailDomains)}`
  if (!linksUsers) return `${everybody}, as a new user at the first time.`
  if (createsUsers) return `${everybody}, as the user of the same address or as a new one.`
  const where = emailDomains.length === 0 ? '' : ` at ${list(emailDomains)}`
  return `Users of this application, by their address${where}.`
}
