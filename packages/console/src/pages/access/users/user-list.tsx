/** The table of users. */
import type { Role, User } from '@graticule/client'
import type { ReactElement } from 'react'
import { StatusDot, Tag } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { formatDate, formatRelative } from '../../../format.ts'
import { useSession } from '../../../session/session.tsx'
import classes from '../access.module.css'
import { defaultKeyOf } from '../keys/default-key.ts'
import { Cell } from '../keys/key-list.tsx'
import { useKeys } from '../keys/keys.ts'
import { grantsOfNames } from '../roles/role-grants.ts'
import { useRoles } from '../roles/roles.ts'
import { UserMenu } from './user-menu.tsx'
import { nameOf, stateOf } from './users.ts'

interface UserListProps {
  users: readonly User[]
}

export function UserList({ users }: UserListProps): ReactElement {
  const keyName = useKeyNames()
  const { data: roles = [] } = useRoles()
  return (
    <div className={layout.scroll}>
      <table className={`${layout.list} ${classes.table}`}>
        <thead>
          <tr>
            {['E-mail', 'Name', 'Roles', 'State', 'Key', 'Since'].map((column) => (
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
          {users.map((user) => (
            <UserRow key={user.id} user={user} roles={roles} keyName={keyName(user)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface UserRowProps {
  user: User
  /** Those that are declared. */
  roles: readonly Role[]
  keyName: string
}

function UserRow({ user, roles, keyName }: UserRowProps): ReactElement {
  const { access } = useSession()
  const { kind, label } = stateOf(user)
  const grants = grantsOfNames(user.roles, roles)
  return (
    <tr>
      <td className={classes.name}>
        {user.email} {access.user?.id === user.id && <Tag>you</Tag>}
      </td>
      <Cell label="Name">{nameOf(user) || '–'}</Cell>
      <Cell label="Roles">
        {user.roles.join(', ') || '–'}
        {grants && <p className={classes.hint}>{grants}</p>}
      </Cell>
      <Cell label="State">
        <StatusDot kind={kind}>{label}</StatusDot>
      </Cell>
      <Cell label="Key">{keyName}</Cell>
      <Cell label="Since">
        <time title={formatDate(user.createdAt)}>{formatRelative(user.createdAt)}</time>
      </Cell>
      <td className={classes.actions}>
        <UserMenu user={user} />
      </td>
    </tr>
  )
}

/** The name of a user's default key. */
function useKeyNames(): (user: User) => string {
  const { data: keys = [] } = useKeys()
  return ({ metadata }) => {
    const id = defaultKeyOf(metadata)
    if (id === null) return 'as the application'
    return keys.find((key) => key.id === id)?.description || 'a key of their own'
  }
}
