/** Finds a user by e-mail or name. */
import type { User } from '@graticule/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactElement, useEffect, useState } from 'react'
import { ErrorNote } from '../../../../components/error-note.tsx'
import { TextField } from '../../../../components/field.tsx'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient } from '../../../../session/session.tsx'
import { userFilter } from '../../../access/users/users.ts'
import classes from '../rules.module.css'

const quietMs = 300
const mostUsers = 6

type ListedUser = Pick<User, 'id' | 'email' | 'roles'>

export interface UserSearchProps {
  applicationId: string
  search: string
  /** Whether one has been chosen: then the others are not listed. */
  isChosen: boolean
  onSearch(text: string): void
  onUser(user: ListedUser): void
}

export function UserSearch({ applicationId, search, isChosen, onSearch, onUser }: UserSearchProps): ReactElement {
  const { data: users, error } = useUsers(applicationId, search, !isChosen)
  return (
    <>
      <TextField
        label="User"
        type="search"
        placeholder="Search by e-mail or name"
        autoComplete="off"
        value={search}
        onChange={onSearch}
      />
      {error && <ErrorNote error={error} />}
      {!isChosen && users && (
        <ul aria-label="Users found" className={classes.users}>
          {users.map((user) => (
            <li key={user.id}>
              <button type="button" onClick={() => onUser(user)}>
                <span>{user.email}</span>
                <span className={classes.muted}>{user.roles.join(', ') || 'no roles'}</span>
              </button>
            </li>
          ))}
          {users.length === 0 && (
            <li className={classes.muted}>
              {search.trim() ? 'No enabled user is called that.' : 'There are no users yet.'}
            </li>
          )}
        </ul>
      )}
    </>
  )
}

function useUsers(applicationId: string, search: string, isWanted: boolean) {
  const client = useClient()
  const [sent, setSent] = useState(search)
  useEffect(() => {
    const timer = setTimeout(() => setSent(search), quietMs)
    return () => clearTimeout(timer)
  }, [search])
  const params = { filter: { applicationId, enabled: true, ...userFilter(sent) }, sort: ['email'], limit: mostUsers }
  return useQuery({
    queryKey: queryKeys.users.listWith(params),
    queryFn: ({ signal }) => client.auth.users.list({ ...params, signal }),
    enabled: isWanted,
    placeholderData: keepPreviousData,
  })
}
