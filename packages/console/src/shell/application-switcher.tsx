/** The current application; a master key can switch it. */
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Select } from '../components/field.tsx'
import { useSession } from '../session/session.tsx'
import { chooseApplication } from '../session/session-store.ts'
import classes from './shell.module.css'

export function ApplicationSwitcher(): ReactElement {
  const { access, unscoped, applicationId } = useSession()
  const isMaster = access.type === 'master'
  const { data: applications = [] } = useQuery({
    queryKey: ['applications', 'names'],
    queryFn: ({ signal }) =>
      unscoped.applications.list({ fields: ['id', 'name'], sort: ['name'], limit: 1000, signal }),
    enabled: isMaster,
  })
  if (!isMaster) return <p className={classes.applicationName}>{access.application?.name}</p>
  const all = { value: '', label: 'All applications' }
  return (
    <div className={classes.application}>
      <Select
        label="Application"
        isLabelHidden
        value={applicationId ?? ''}
        options={[all, ...applications.map(({ id, name }) => ({ value: id, label: name }))]}
        onChange={(id) => chooseApplication(id || null)}
      />
    </div>
  )
}
