/** The roles of an application: those that are declared, and the names that users have besides. */
import type { Role } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Empty, Skeleton } from '../../../components/note.tsx'
import { layout, Page } from '../../../components/page.tsx'
import { formatNumber } from '../../../format.ts'
import { useRefusal } from '../../../session/session.tsx'
import { AccessTabs, useMissingApplication } from '../access-tabs.tsx'
import { RoleDialog } from './role-dialog.tsx'
import { draftOf, emptyRole, type RoleDraft } from './role-draft.ts'
import { RoleList } from './role-list.tsx'
import { undeclaredNames } from './role-use.ts'
import { useRoles, useRoleUse } from './roles.ts'
import { UndeclaredRoles } from './undeclared-roles.tsx'

interface OpenForm {
  /** Null: a new one. */
  role: Role | null
  start: RoleDraft
}

export function RolesPage(): ReactElement {
  const [form, setForm] = useState<OpenForm | null>(null)
  const { data: roles, error, refetch } = useRoles()
  const { data: use, error: useError, refetch: countAgain } = useRoleUse()
  const refusal = useRefusal()
  const missing = useMissingApplication()
  const hidden = missing ?? refusal('users', 'read')
  const names = roles && use ? undeclaredNames(roles, use) : []
  const isReady = roles !== undefined && use !== undefined
  const fault = error ?? useError
  const add = (
    <Button
      variant="primary"
      icon="plus"
      disabledReason={missing ?? refusal('users', 'write')}
      onClick={() => setForm({ role: null, start: emptyRole })}
    >
      New role
    </Button>
  )
  return (
    <Page title="Roles" facts={isReady && factsOf(roles.length, names.length)} actions={add} tabs={<AccessTabs />}>
      {hidden && (
        <Empty title="The roles of an application are shown here">
          <p>{hidden}</p>
        </Empty>
      )}
      {fault && <ErrorNote error={fault} onRetry={() => void Promise.all([refetch(), countAgain()])} />}
      {!isReady && !fault && !hidden && <RolesSkeleton />}
      {isReady && (
        <div className={layout.section}>
          {roles.length === 0 && <NoRoles />}
          {roles.length > 0 && (
            <RoleList roles={roles} use={use} onEdit={(role) => setForm({ role, start: draftOf(role) })} />
          )}
          <UndeclaredRoles
            names={names}
            use={use}
            onDeclare={(name) => setForm({ role: null, start: { ...emptyRole, name } })}
          />
        </div>
      )}
      {form && <RoleDialog {...form} use={use} onClose={() => setForm(null)} />}
    </Page>
  )
}

function factsOf(declared: number, undeclared: number): string {
  const roles = `${formatNumber(declared)} ${declared === 1 ? 'role' : 'roles'}`
  if (undeclared === 0) return roles
  return `${roles} · ${formatNumber(undeclared)} ${undeclared === 1 ? 'name' : 'names'} not declared`
}

function NoRoles(): ReactElement {
  return (
    <Empty title="No roles yet">
      <p>
        A role is a name that users have. Rules of datasets ask for it, and it may let its users do more than the key
        behind their tokens does.
      </p>
    </Empty>
  )
}

function RolesSkeleton(): ReactElement {
  return (
    <div className={layout.section}>
      {[1, 2, 3].map((row) => (
        <Skeleton key={row} height={36} />
      ))}
    </div>
  )
}
