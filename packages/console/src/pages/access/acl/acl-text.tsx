/** The ACL as editable JSON. The text stays as typed and takes effect when it is valid. */
import { type ReactElement, useState } from 'react'
import type { Permissions } from '../../../../../server/src/api/access/grants.ts'
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx'
import { Note } from '../../../components/note.tsx'
import classes from '../keys/key-editor.module.css'
import { readPermissions } from './read-permissions.ts'

interface AclTextProps {
  permissions: Permissions
  onPermissions(permissions: Permissions): void
}

export function AclText(props: AclTextProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={classes.json} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>JSON</summary>
      {isOpen && <AclEditor {...props} />}
    </details>
  )
}

function AclEditor({ permissions, onPermissions }: AclTextProps): ReactElement {
  const [typed, setTyped] = useState<{ text: string; permissions: Permissions } | null>(null)
  const text = typed?.permissions === permissions ? typed.text : JSON.stringify(permissions, null, 2)
  const read = readPermissions(text)
  const change = (next: string) => {
    if (next === text) return
    const parsed = readPermissions(next)
    const isReadable = 'permissions' in parsed
    setTyped({ text: next, permissions: isReadable ? parsed.permissions : permissions })
    if (isReadable) onPermissions(parsed.permissions)
  }
  return (
    <>
      <CodeEditor language="json" label="Permissions" value={text} onChange={change} />
      <p className={classes.hint}>
        {'{class: {level: ids}}'}; each of the three may be *. The most specific entry wins.
      </p>
      {'fault' in read && (
        <div role="alert">
          <Note kind="danger">{read.fault} What counts is what was there before.</Note>
        </div>
      )}
    </>
  )
}
