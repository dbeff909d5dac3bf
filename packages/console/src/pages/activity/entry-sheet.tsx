/** All that the log knows of one entry, and links that show only what is like it. */
import type { AuditEntry } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { StatusDot, Tag } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatDate } from '../../format.ts'
import type { Names } from './activity-names.ts'
import type { ActivitySearch } from './activity-search.ts'
import { actionWords, capital, kindWords, outcomeOf } from './activity-words.ts'
import { ActorName } from './actor-name.tsx'
import { RecordName } from './record-name.tsx'

interface EntrySheetProps {
  entry: AuditEntry
  names: Names
  onClose(): void
}

export function EntrySheet({ entry, names, onClose }: EntrySheetProps): ReactElement {
  return (
    <Dialog kind="sheet" isOpen title={actionWords(entry.action)} onClose={onClose}>
      <div className={layout.section}>
        <dl className={layout.definitions}>
          {factsOf(entry, names).map(([term, value]) => (
            <Fact key={term} term={term}>
              {value}
            </Fact>
          ))}
        </dl>
        <Likes entry={entry} />
      </div>
    </Dialog>
  )
}

interface FactProps {
  term: string
  children: ReactNode
}

function Fact({ term, children }: FactProps): ReactElement {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  )
}

type FactOf = [term: string, value: ReactNode]

function factsOf(entry: AuditEntry, names: Names): FactOf[] {
  const { kind, label } = outcomeOf(entry)
  const { at, action, address, userAgent, requestId } = entry
  const application = names.applicationName(entry.applicationId)
  const facts: (FactOf | null)[] = [
    ['When', formatDate(at)],
    ['In UTC', <code key="at">{at}</code>],
    ['Action', <code key="action">{action}</code>],
    [
      'Outcome',
      <StatusDot key="outcome" kind={kind}>
        {label}
      </StatusDot>,
    ],
    ...actorFacts(entry, names),
    ...recordFacts(entry, names),
    application === undefined ? null : ['Application', application],
    address === null ? null : ['Address', address],
    userAgent === null ? null : ['Program', userAgent],
    requestId === null ? null : ['Request', <Copyable key="request" text={requestId} label="request id" />],
  ]
  return facts.filter((fact) => fact !== null)
}

function actorFacts(entry: AuditEntry, names: Names): FactOf[] {
  const { actorType, actorId, userId } = entry
  return [
    ['Who', <ActorName key="who" entry={entry} names={names} />],
    ...(actorId === null ? [] : [['Key', <Copyable key="key" text={actorId} label="fingerprint" />] satisfies FactOf]),
    ...(userId === null || actorType === 'user'
      ? []
      : [['User', names.userName(userId) ?? String(userId)] satisfies FactOf]),
  ]
}

function recordFacts(entry: AuditEntry, names: Names): FactOf[] {
  const { targetType, targetId, targetName, changed } = entry
  const isThere = names.recordOf(entry) !== undefined
  const facts: (FactOf | false)[] = [
    (targetId !== null || targetName !== null) && [
      capital(kindWords[targetType]?.[0] ?? targetType),
      <RecordName key="record" entry={entry} names={names} />,
    ],
    targetId !== null && [
      targetType === 'apikeys' ? 'Its fingerprint' : 'Its id',
      <Copyable key="id" text={targetId} label="id of the record" />,
    ],
    targetId !== null && !isThere && ['', 'It no longer exists, has no page, or this key may not read it.'],
    changed.length > 0 && [
      'Fields set',
      <span key="changed" className={layout.row}>
        {changed.map((name) => (
          <Tag key={name}>{name}</Tag>
        ))}
      </span>,
    ],
  ]
  return facts.filter((fact) => fact !== false)
}

interface LikesProps {
  entry: AuditEntry
}

function Likes({ entry }: LikesProps): ReactElement {
  const { targetType, targetId, actorId, userId, action, address } = entry
  const likes: [label: string, search: ActivitySearch | null][] = [
    ['This record', targetId === null ? null : { kind: targetType, record: targetId }],
    ['This key', actorId === null ? null : { key: actorId }],
    ['This user', userId === null ? null : { user: userId }],
    ['This action', { action }],
    ['This address', address === null ? null : { address }],
  ]
  return (
    <section className={layout.section} aria-labelledby="likes">
      <h3 id="likes">Show only</h3>
      <div className={layout.row}>
        {likes.map(
          ([label, search]) =>
            search && (
              <Link key={label} to="/activity" search={search} className={buttonClass()}>
                {label}
              </Link>
            ),
        )}
      </div>
    </section>
  )
}
