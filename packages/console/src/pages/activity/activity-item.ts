/** The item of a record's menu that leads to its activity. */
import { useNavigate } from '@tanstack/react-router'
import type { MenuItem } from '../../components/popup/menu.tsx'
import { useRefusal, useSession } from '../../session/session.tsx'
import type { ActivitySearch } from './activity-search.ts'

export function useActivityItem(search: ActivitySearch): MenuItem {
  const navigate = useNavigate()
  const { access } = useSession()
  return {
    label: 'Activity',
    icon: 'history',
    disabledReason: useRefusal()('applications', 'write', access.application?.id),
    onSelect: () => void navigate({ to: '/activity', search }),
  }
}
