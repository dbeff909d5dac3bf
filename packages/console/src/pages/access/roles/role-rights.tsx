/** What a role grants: the ACL as a grid, in words, and what to think of before. */
import type { ReactElement } from 'react'
import { grantsInclude, type Permissions } from '../../../../../server/src/api/access/grants.ts'
import { Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { useSession } from '../../../session/session.tsx'
import { AclGrid } from '../acl/acl-grid.tsx'
import { grantsSentence } from '../acl/acl-sentence.ts'
import { knownIds, useResources } from '../acl/resources.ts'
import classes from '../keys/key-editor.module.css'
import { grantWarnings } from '../keys/key-warnings.ts'

interface RoleRightsProps {
  permissions: Permissions
  onChange(permissions: Permissions): void
}

export function RoleRights({ permissions, onChange }: RoleRightsProps): ReactElement {
  const { access } = useSession()
  const resources = useResources()
  const warnings = [
    ...(grantsInclude(access.permissions, permissions) ? [] : [tooMuch]),
    ...grantWarnings({ type: 'app', permissions }, knownIds(resources)),
  ]
  return (
    <section className={layout.section} aria-label="Rights">
      <p className={classes.hint}>
        What its users may do besides what the key behind their tokens grants. A click changes a cell; ⋯ (or F2) chooses
        by name. Arrow keys move.
      </p>
      <AclGrid
        label="What users with this role may do"
        permissions={permissions}
        resources={resources}
        onChange={onChange}
      />
      <p role="status" className={classes.words}>
        <strong>In words:</strong> {grantsSentence(permissions)}
      </p>
      {warnings.length > 0 && (
        <ul aria-label="Warnings" className={classes.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>
              <Note kind="warn">{warning}</Note>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const tooMuch =
  'This is more than you may do yourself, so the server will refuse it. Sign in with a key that may do all of it and does not expire.'
