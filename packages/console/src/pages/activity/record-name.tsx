/** The record of an entry: a link if it still exists and the key may read it, otherwise the name that it had. */
import type { AuditEntry } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import classes from './activity.module.css'
import type { Names } from './activity-names.ts'

interface RecordNameProps {
  entry: AuditEntry
  names: Names
}

export function RecordName({ entry, names }: RecordNameProps): ReactElement | null {
  const { targetId, targetName } = entry
  const record = names.recordOf(entry)
  if (record) {
    return (
      <Link {...record.page} className={classes.record}>
        {targetName || record.name}
      </Link>
    )
  }
  if (targetName) return <span>{targetName}</span>
  return targetId ? <code>{targetId.slice(0, shownOfId)}</code> : null
}

const shownOfId = 16
