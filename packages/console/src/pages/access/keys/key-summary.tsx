/** The summary of a key's draft: a description, warnings, a permission check, and the ACL as JSON. */
import { type ReactElement, useState } from 'react'
import {
  type AclClass,
  type AclLevel,
  aclClasses,
  aclLevels,
  hasLevel,
  type Permissions,
} from '../../../../../server/src/api/access/grants.ts'
import { Select } from '../../../components/field.tsx'
import { Note } from '../../../components/note.tsx'
import { decide } from '../acl/acl-decision.ts'
import { aclSentence, classTitle } from '../acl/acl-sentence.ts'
import { AclText } from '../acl/acl-text.tsx'
import { knownIds, type Resources } from '../acl/resources.ts'
import type { KeyDraft } from './key-draft.ts'
import classes from './key-editor.module.css'
import { warningsOf } from './key-warnings.ts'

interface KeySummaryProps {
  draft: KeyDraft
  resources: Resources
  onPermissions(permissions: Permissions): void
}

export function KeySummary({ draft, resources, onPermissions }: KeySummaryProps): ReactElement {
  const warnings = warningsOf(draft, knownIds(resources))
  return (
    <aside className={classes.meaning} aria-label="What this means">
      <section>
        <h2>In words</h2>
        <p role="status">{aclSentence(draft.permissions)}</p>
      </section>
      {warnings.length > 0 && (
        <ul aria-label="Warnings" className={classes.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>
              <Note kind="warn">{warning}</Note>
            </li>
          ))}
        </ul>
      )}
      <Try permissions={draft.permissions} resources={resources} />
      <AclText permissions={draft.permissions} onPermissions={onPermissions} />
    </aside>
  )
}

const anyResource = ''

interface TryProps {
  permissions: Permissions
  resources: Resources
}

function Try({ permissions, resources }: TryProps): ReactElement {
  const [aclClass, setClass] = useState<AclClass>('datasets')
  const [level, setLevel] = useState<AclLevel>('read')
  const [id, setId] = useState(anyResource)
  const { isAllowed, reason } = decide(permissions, aclClass, level, id === anyResource ? null : id)
  const named = (resources[aclClass] ?? []).map((one) => ({ value: one.id, label: one.name }))
  return (
    <section>
      <h2>Try</h2>
      <div className={classes.try}>
        <Select
          label="Kind"
          value={aclClass}
          options={aclClasses.map((value) => ({ value, label: classTitle(value) }))}
          onChange={(next) => {
            setClass(next)
            setId(anyResource)
            if (!hasLevel(next, level)) setLevel('read')
          }}
        />
        <Select<AclLevel>
          label="Level"
          value={level}
          options={aclLevels.filter((one) => hasLevel(aclClass, one))}
          onChange={setLevel}
        />
        <Select label="Which" value={id} options={[{ value: anyResource, label: 'any' }, ...named]} onChange={setId} />
      </div>
      <p role="status" aria-label="Answer" className={classes.answer}>
        <strong data-allowed={isAllowed}>{isAllowed ? 'Allowed' : 'Refused'}</strong>, {reason}.
      </p>
    </section>
  )
}
