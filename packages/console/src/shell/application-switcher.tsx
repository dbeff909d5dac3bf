/** The current application; a master key can switch it. */
import type { ReactElement } from 'react'
import { Select } from '../components/field.tsx'
import { useApplicationNames } from '../session/application-names.ts'
import { useSession } from '../session/session.tsx'
import { chooseApplication } from '../session/session-store.ts'
import classes from './shell.module.css'

export function ApplicationSwitcher(): ReactElement {
  const { access, applicationId } = useSession()
  const isMaster = access.type === 'master'
  const applications = useApplicationNames()
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
