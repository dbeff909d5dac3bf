/** The roles of a user: those that are declared, to tick, and other names. */
import type { Role } from '@graticule/client'
import type { ReactElement } from 'react'
import { Checkbox } from '../../../components/field.tsx'
import { Note } from '../../../components/note.tsx'
import classes from '../access.module.css'
import { EntryList } from '../entry-list.tsx'
import { grantsOfNames, grantsOfRole } from '../roles/role-grants.ts'
import { useRoles } from '../roles/roles.ts'

interface RolesFieldProps {
  roles: readonly string[]
  error: string | undefined
  onChange(roles: readonly string[]): void
}

export function RolesField({ roles, error, onChange }: RolesFieldProps): ReactElement {
  const { data: declared = [] } = useRoles()
  const names = declared.map(({ name }) => name)
  const free = roles.filter((role) => !names.includes(role))
  const grants = grantsOfNames(roles, declared)
  const toggle = (name: string, isIn: boolean) =>
    onChange(isIn ? [...roles, name] : roles.filter((role) => role !== name))
  return (
    <>
      {declared.length > 0 && (
        <fieldset className={classes.choices}>
          <legend>Roles</legend>
          {declared.map((role) => (
            <Checkbox
              key={role.id}
              label={<RoleLabel role={role} />}
              isChecked={roles.includes(role.name)}
              onChange={(isIn) => toggle(role.name, isIn)}
            />
          ))}
        </fieldset>
      )}
      <EntryList
        label={declared.length > 0 ? 'Other role names' : 'Roles'}
        hint="Names that are not declared grant nothing. Rules of datasets and your own programs may ask for them."
        placeholder="editor"
        entries={free}
        error={error}
        read={(text) => ({ value: text.trim() })}
        onChange={(next) => onChange([...roles.filter((role) => names.includes(role)), ...next])}
      />
      {grants && (
        <div role="status">
          <Note>The roles grant, besides what the key does: {grants}</Note>
        </div>
      )}
    </>
  )
}

interface RoleLabelProps {
  role: Role
}

function RoleLabel({ role }: RoleLabelProps): ReactElement {
  return (
    <>
      {role.name}
      <small>{role.description || grantsOfRole(role)}</small>
    </>
  )
}
