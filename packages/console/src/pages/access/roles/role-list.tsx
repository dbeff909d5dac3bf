/** The table of declared roles, with what each grants in words. */
import type { Role } from '@graticule/client'
import type { ReactElement } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { layout } from '../../../components/page.tsx'
import { Menu } from '../../../components/popup/menu.tsx'
import { useRefusal } from '../../../session/session.tsx'
import { useActivityItem } from '../../activity/activity-item.ts'
import classes from '../access.module.css'
import { Cell } from '../keys/key-list.tsx'
import { useDeleteRole } from './delete-role.tsx'
import { grantsOfRole } from './role-grants.ts'
import { type RoleUse, usersWith } from './role-use.ts'

interface RoleListProps {
  roles: readonly Role[]
  use: RoleUse
  onEdit(role: Role): void
}

export function RoleList({ roles, use, onEdit }: RoleListProps): ReactElement {
  return (
    <div className={layout.scroll}>
      <table className={`${layout.list} ${classes.table}`}>
        <thead>
          <tr>
            {['Name', 'What it grants', 'Users', 'Description'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {roles.map((role) => (
            <RoleRow key={role.id} role={role} use={use} onEdit={() => onEdit(role)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RoleRowProps {
  role: Role
  use: RoleUse
  onEdit(): void
}

function RoleRow({ role, use, onEdit }: RoleRowProps): ReactElement {
  const { name, description } = role
  return (
    <tr>
      <td className={classes.name}>{name}</td>
      <Cell label="May">{grantsOfRole(role)}</Cell>
      <Cell label="Users">{usersWith(name, use)}</Cell>
      <Cell label="Description">{description || '–'}</Cell>
      <td className={classes.actions}>
        <RoleMenu role={role} use={use} onEdit={onEdit} />
      </td>
    </tr>
  )
}

function RoleMenu({ role, use, onEdit }: RoleRowProps): ReactElement {
  const refusal = useRefusal()('users', 'write')
  const deleteRole = useDeleteRole()
  const activity = useActivityItem({ kind: 'roles', record: role.id })
  return (
    <Menu
      trigger={<IconButton icon="more" label={`Actions of the role ${role.name}`} />}
      items={[
        { label: 'Edit …', icon: 'edit', disabledReason: refusal, onSelect: onEdit },
        activity,
        '-',
        {
          label: 'Delete …',
          icon: 'trash',
          isDanger: true,
          disabledReason: refusal,
          onSelect: () => deleteRole(role, use),
        },
      ]}
    />
  )
}
