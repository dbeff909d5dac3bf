/** The details of a connection: its destination, a test, and its tables. */
import type { Database } from '@graticule/client'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Tag } from '../../components/note.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useToast } from '../../components/toast.tsx'
import { useRefusal } from '../../session/session.tsx'
import { useActivityItem } from '../activity/activity-item.ts'
import { ConnectionTest } from './connection-test.tsx'
import { DatabaseTables } from './database-tables.tsx'
import classes from './databases.module.css'
import { useDeleteDatabase } from './delete-database.tsx'
import { factsOf } from './driver-form.ts'
import { useDriver } from './use-drivers.ts'

const DatabaseForm = lazy(() => import('./database-form.tsx').then(({ DatabaseForm }) => ({ default: DatabaseForm })))

interface DatabaseRecordProps {
  database: Database
}

export function DatabaseRecord({ database }: DatabaseRecordProps): ReactElement {
  const [isEditing, setEditing] = useState(false)
  const refusal = useRefusal()('databases', 'write', database.id)
  const navigate = useNavigate()
  const remove = useDeleteDatabase()
  const { say } = useToast()
  const activity = useActivityItem({ kind: 'databases', record: database.id })
  const deleted = () => void navigate({ to: '/databases/{-$databaseId}', params: {} })
  return (
    <article className={classes.record} aria-label={database.name}>
      <header>
        <Link to="/databases/{-$databaseId}" params={{}} className={classes.back} aria-label="Back to Databases">
          <Icon name="chevronLeft" size={20} />
        </Link>
        <h2>{database.name}</h2>
        {database.default && <Tag>default</Tag>}
        <span className={classes.spring} />
        <Button icon="edit" disabledReason={refusal} onClick={() => setEditing(true)}>
          Edit
        </Button>
        <Menu
          trigger={<IconButton icon="moreVertical" label={`Actions for ${database.name}`} />}
          items={[
            {
              label: 'Copy id',
              icon: 'copy',
              onSelect: () =>
                void navigator.clipboard.writeText(database.id).then(() => say({ title: 'The id is copied' })),
            },
            activity,
            '-',
            {
              label: 'Delete …',
              icon: 'trash',
              isDanger: true,
              disabledReason: database.default
                ? 'The default database stays. Make another one the default first.'
                : refusal,
              onSelect: () => void remove(database, deleted),
            },
          ]}
        />
      </header>
      {database.description && <p>{database.description}</p>}
      <Facts database={database} />
      <ConnectionTest database={database} />
      <DatabaseTables database={database} />
      <Suspense>
        {isEditing && (
          <DatabaseForm stored={database} onClose={() => setEditing(false)} onSaved={() => setEditing(false)} />
        )}
      </Suspense>
    </article>
  )
}

interface FactsProps {
  database: Database
}

function Facts({ database }: FactsProps): ReactElement | null {
  const driver = useDriver(database.type)
  const facts = driver ? factsOf(database, driver) : []
  if (facts.length === 0) return null
  return (
    <dl className={classes.facts}>
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
