/** The users of an application, with their state and default key. */
import type { User } from '@graticule/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactElement, useEffect, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { TextField } from '../../../components/field.tsx'
import { Empty, Skeleton } from '../../../components/note.tsx'
import { layout, Page } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatNumber } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { signInLink } from '../../../session/account-links.ts'
import { useClient, useRefusal, useSession } from '../../../session/session.tsx'
import classes from '../access.module.css'
import { AccessTabs, useMissingApplication } from '../access-tabs.tsx'
import { InviteUser, ResetLinkDialog } from './user-dialogs.tsx'
import { UserList } from './user-list.tsx'
import { pageSize, userFilter } from './users.ts'

export function UsersPage(): ReactElement {
  const [isInviting, setInviting] = useState(false)
  const [invited, setInvited] = useState<User | null>(null)
  const { users, total, error, refetch } = useUsers()
  const refusal = useRefusal()('users', 'write')
  const missing = useMissingApplication()
  const actions = (
    <>
      <SignInLink />
      <Button variant="primary" icon="plus" disabledReason={missing ?? refusal} onClick={() => setInviting(true)}>
        Invite
      </Button>
    </>
  )
  return (
    <Page title="Users" facts={users && countOf(total)} actions={actions} tabs={<AccessTabs />}>
      <UserSearch total={total} />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!users && !error && <UsersSkeleton />}
      {users && <Users users={users} total={total} />}
      {isInviting && (
        <InviteUser
          onClose={() => setInviting(false)}
          onInvited={(user) => {
            setInviting(false)
            setInvited(user)
          }}
        />
      )}
      {invited && <ResetLinkDialog user={invited} onClose={() => setInvited(null)} />}
    </Page>
  )
}

const countOf = (total: number): string => `${formatNumber(total)} ${total === 1 ? 'user' : 'users'}`

function useUsers() {
  const client = useClient()
  const { q = '', page = 1 } = useSearch({ from: '/shell/access/users' })
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.users.listWith({ q, page }),
    queryFn: async ({ signal }) => {
      let total = 0
      const filter = userFilter(q)
      const users = await client.auth.users.list({
        sort: ['email'],
        limit: pageSize,
        offset: (page - 1) * pageSize,
        ...(filter && { filter }),
        signal,
        onResponse: ({ headers }) => {
          total = Number(headers.get('x-total-count'))
        },
      })
      return { users, total }
    },
    placeholderData: keepPreviousData,
  })
  return { users: data?.users, total: data?.total ?? 0, error, refetch }
}

interface UsersProps {
  users: readonly User[]
  total: number
}

function Users({ users, total }: UsersProps): ReactElement {
  const { q = '' } = useSearch({ from: '/shell/access/users' })
  const navigate = useNavigate({ from: '/access/users' })
  if (users.length > 0) {
    return (
      <>
        <UserList users={users} />
        {total > pageSize && <Pages total={total} />}
      </>
    )
  }
  if (q !== '') {
    return (
      <Empty
        title="No user is called that"
        action={<Button onClick={() => void navigate({ search: {} })}>Clear the search</Button>}
      />
    )
  }
  return (
    <Empty title="No users yet">
      <p>
        People who sign in with an e-mail address and a password. What they may do is what a key may that you choose.
      </p>
      <p>Invite the first one, or let people sign up by themselves: the tab “Sign-up” says who may.</p>
    </Empty>
  )
}

const quietMs = 400

interface UserSearchProps {
  total: number
}

function UserSearch({ total }: UserSearchProps): ReactElement | null {
  const { q = '' } = useSearch({ from: '/shell/access/users' })
  const navigate = useNavigate({ from: '/access/users' })
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  useEffect(() => {
    if (text === q) return
    const timer = setTimeout(() => void navigate({ search: text ? { q: text } : {}, replace: true }), quietMs)
    return () => clearTimeout(timer)
  }, [text, q, navigate])
  if (total === 0 && q === '' && text === '') return null
  return (
    <div className={classes.search}>
      <TextField
        label="Search users"
        isLabelHidden
        type="search"
        placeholder="Search by e-mail or name"
        value={text}
        onChange={setText}
      />
    </div>
  )
}

interface PagesProps {
  total: number
}

function Pages({ total }: PagesProps): ReactElement {
  const { q, page = 1 } = useSearch({ from: '/shell/access/users' })
  const navigate = useNavigate({ from: '/access/users' })
  const go = (next: number) => void navigate({ search: { ...(q && { q }), ...(next > 1 && { page: next }) } })
  const last = Math.ceil(total / pageSize)
  return (
    <nav aria-label="Pages" className={`${layout.row} ${classes.pages}`}>
      <Button icon="chevronLeft" disabled={page <= 1} onClick={() => go(page - 1)}>
        Before
      </Button>
      <span>
        {page} of {last}
      </span>
      <Button icon="chevronRight" disabled={page >= last} onClick={() => go(page + 1)}>
        Next
      </Button>
    </nav>
  )
}

/** The sign-in link to send to users; it contains the id of the application. */
function SignInLink(): ReactElement | null {
  const { access } = useSession()
  const { say, fail } = useToast()
  if (!access.application) return null
  const link = signInLink(access.application.id)
  const copy = () =>
    navigator.clipboard.writeText(link).then(
      () => say({ title: 'The sign-in link is copied', text: link }),
      (error) => fail('The link could not be copied', error),
    )
  return (
    <Button icon="link" onClick={() => void copy()}>
      Copy sign-in link
    </Button>
  )
}

function UsersSkeleton(): ReactElement {
  return (
    <div className={layout.section}>
      {[1, 2, 3, 4].map((row) => (
        <Skeleton key={row} height={36} />
      ))}
    </div>
  )
}
