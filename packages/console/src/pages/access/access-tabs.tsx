/** The tabs of the access pages. */
import type { ReactElement } from 'react'
import { LinkTabs } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'

const tabs = [
  { to: '/access/keys', label: 'Keys' },
  { to: '/access/users', label: 'Users' },
  { to: '/access/roles', label: 'Roles' },
  { to: '/access/signup', label: 'Sign-up' },
  { to: '/access/signin', label: 'Sign-in' },
]
const masterTabs = [...tabs, { to: '/access/applications', label: 'Applications' }]

export function AccessTabs(): ReactElement {
  const { access } = useSession()
  return <LinkTabs label="Access" tabs={access.type === 'master' ? masterTabs : tabs} />
}

/** The reason why a master key without a selected application cannot create anything here. */
export function useMissingApplication(): string | undefined {
  const { access } = useSession()
  return access.application === null ? 'Choose an application first, at the top left.' : undefined
}
