/**
 * Selects resources of a class by name, for one or more levels. No form: Enter in the search must not end the choice, and nothing is sent,
 * since the choice becomes a part of the form of the key.
 */
import { type ReactElement, useState } from 'react'
import { type AclClass, type AclLevel, aclLevels } from '../../../../../server/src/api/access/grants.ts'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Checkbox, TextField } from '../../../components/field.tsx'
import classes from '../keys/key-editor.module.css'
import { hasEffect, type LevelGrant } from './acl-matrix.ts'
import { classTitle } from './acl-sentence.ts'
import type { Resource } from './resources.ts'

interface ResourceChooserProps {
  aclClass: AclClass
  level: AclLevel
  grant: LevelGrant
  resources: readonly Resource[]
  onClose(): void
  onChoose(levels: readonly AclLevel[], ids: readonly string[]): void
}

/** A longer list would be slow and hard to use; the search narrows it. */
const mostShown = 500

export function ResourceChooser(props: ResourceChooserProps): ReactElement {
  const { aclClass, level, grant, resources, onClose, onChoose } = props
  const [search, setSearch] = useState('')
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set(typeof grant === 'string' ? [] : grant))
  const [levels, setLevels] = useState<readonly AclLevel[]>([level])
  const all = withAbsent(resources, typeof grant === 'string' ? [] : grant)
  const wanted = search.trim().toLowerCase()
  const matches = all.filter(({ id, name }) => name.toLowerCase().includes(wanted) || id.toLowerCase() === wanted)
  const toggle = (id: string, isIn: boolean) =>
    setIds(new Set(isIn ? [...ids, id] : [...ids].filter((one) => one !== id)))
  const others = aclLevels.filter((other) => other !== level && hasEffect(aclClass, other))
  return (
    <Dialog
      isOpen
      onClose={onClose}
      kind="sheet"
      title={`${classTitle(aclClass)}: ${level}`}
      actions={
        <>
          <span className={classes.chosenCount}>{ids.size} chosen</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={() => onChoose(levels, [...ids])}>
            Use these
          </Button>
        </>
      }
    >
      <div className={classes.chooser}>
        <TextField label="Search by name" type="search" value={search} onChange={setSearch} />
        <ul aria-label={classTitle(aclClass)}>
          {matches.slice(0, mostShown).map(({ id, name }) => (
            <li key={id}>
              <Checkbox label={name} isChecked={ids.has(id)} onChange={(isIn) => toggle(id, isIn)} />
            </li>
          ))}
        </ul>
        {matches.length === 0 && <p>{all.length === 0 ? 'There are none yet.' : 'Nothing has that name.'}</p>}
        {matches.length > mostShown && <p>{matches.length - mostShown} more: search to find them.</p>}
        <fieldset>
          <legend>The same choice for</legend>
          {others.map((other) => (
            <Checkbox
              key={other}
              label={other}
              isChecked={levels.includes(other)}
              onChange={(isIn) => setLevels(isIn ? [...levels, other] : levels.filter((one) => one !== other))}
            />
          ))}
        </fieldset>
      </div>
    </Dialog>
  )
}

/** Adds ids that the ACL names but that do not exist, so that they can be removed. */
function withAbsent(resources: readonly Resource[], ids: readonly string[]): readonly Resource[] {
  const existingIds = new Set(resources.map(({ id }) => id))
  const absent = ids.filter((id) => !existingIds.has(id)).map((id) => ({ id, name: `${id} (not found)` }))
  return [...absent, ...resources]
}
