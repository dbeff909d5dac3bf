/** As whom the rules are tried: a user, somebody with a role, somebody signed in, or a key without a user. */
import { type ReactElement, useState } from 'react'
import { Select } from '../../../../components/field.tsx'
import { useMay } from '../../../../session/session.tsx'
import { useDataset } from '../../dataset.ts'
import { UserSearch } from './user-search.tsx'
import type { Viewer } from './viewer.ts'

const roleMark = 'role '

export interface ViewerChoiceProps {
  viewer: Viewer | null
  /** The roles that rules name. */
  roles: readonly string[]
  /** Null while a user is searched. */
  onViewer(viewer: Viewer | null): void
}

export function ViewerChoice({ viewer, roles, onViewer }: ViewerChoiceProps): ReactElement {
  const mayRead = useMay()('users', 'read')
  const options = [
    { value: 'user', label: mayRead ? 'A user …' : 'A user (this key may not read users)', isDisabled: !mayRead },
    { value: 'signed-in', label: 'Somebody signed in, without roles' },
    ...roles.map((role) => ({ value: roleMark + role, label: `Somebody with the role ${role}` })),
    { value: 'anyone', label: 'Anyone: a key without a user' },
  ]
  return (
    <>
      <Select
        label="See as"
        value={choiceOf(viewer)}
        options={options}
        onChange={(value) => onViewer(viewerOf(value))}
      />
      {choiceOf(viewer) === 'user' && <UserField viewer={viewer} onViewer={onViewer} />}
    </>
  )
}

function UserField({ viewer, onViewer }: Pick<ViewerChoiceProps, 'viewer' | 'onViewer'>): ReactElement {
  const { applicationId } = useDataset()
  const [search, setSearch] = useState(viewer?.kind === 'user' ? viewer.email : '')
  return (
    <UserSearch
      applicationId={applicationId}
      search={search}
      isChosen={viewer !== null}
      onSearch={(text) => {
        setSearch(text)
        onViewer(null)
      }}
      onUser={({ id, email }) => {
        setSearch(email)
        onViewer({ kind: 'user', id, email })
      }}
    />
  )
}

const choiceOf = (viewer: Viewer | null): string => {
  if (viewer === null) return 'user'
  return viewer.kind === 'role' ? roleMark + viewer.role : viewer.kind
}

function viewerOf(value: string): Viewer | null {
  if (value === 'signed-in' || value === 'anyone') return { kind: value }
  return value.startsWith(roleMark) ? { kind: 'role', role: value.slice(roleMark.length) } : null
}
