/** The entries of a page, newest first; on phones cards of three lines. */
import type { AuditEntry } from '@graticule/client'
import type { ReactElement } from 'react'
import { IconButton } from '../../components/button.tsx'
import { StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatDate, formatRelative } from '../../format.ts'
import { useSession } from '../../session/session.tsx'
import classes from './activity.module.css'
import type { Names } from './activity-names.ts'
import { actionWords, outcomeOf } from './activity-words.ts'
import { ActorName } from './actor-name.tsx'
import { RecordName } from './record-name.tsx'

interface ActivityListProps {
  entries: readonly AuditEntry[]
  names: Names
  /** Whether these are the entries of the previous filter, shown while the new ones load. */
  isOld: boolean
  onOpen(id: string): void
}

export function ActivityList({ entries, names, isOld, onOpen }: ActivityListProps): ReactElement {
  const isOfAll = useSession().access.application === null
  const columns = ['When', 'Who', 'What', ...(isOfAll ? ['Application'] : []), 'Outcome', 'From']
  return (
    <table className={`${layout.list} ${classes.list}`} data-old={isOld} aria-busy={isOld}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
          <th scope="col">
            <span className="visually-hidden">Details</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} names={names} isOfAll={isOfAll} onOpen={() => onOpen(entry.id)} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps {
  entry: AuditEntry
  names: Names
  isOfAll: boolean
  onOpen(): void
}

function Row({ entry, names, isOfAll, onOpen }: RowProps): ReactElement {
  const { kind, label } = outcomeOf(entry)
  const { at, action, address, applicationId } = entry
  return (
    <tr>
      <td className={classes.when}>
        <time dateTime={at} title={formatDate(at)}>
          {formatRelative(at)}
        </time>
      </td>
      <td className={classes.who}>
        <ActorName entry={entry} names={names} />
      </td>
      <td className={classes.what}>
        {actionWords(action)} <RecordName entry={entry} names={names} />
      </td>
      {isOfAll && <td className={classes.application}>{names.applicationName(applicationId) ?? '–'}</td>}
      <td className={classes.outcome}>
        <StatusDot kind={kind}>{label}</StatusDot>
      </td>
      <td className={classes.from} data-empty={address === null}>
        {address ?? '–'}
      </td>
      <td className={classes.details}>
        <IconButton
          icon="chevronRight"
          label={`Details of “${actionWords(action)}”, ${formatDate(at)}`}
          onClick={onOpen}
        />
      </td>
    </tr>
  )
}
