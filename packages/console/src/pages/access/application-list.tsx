/** The table of applications. */
import type { Application } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Tag } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatDate, formatRelative } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useRefusal, useSession } from '../../session/session.tsx'
import { chooseApplication } from '../../session/session-store.ts'
import classes from './access.module.css'
import { Cell } from './keys/key-list.tsx'

interface ApplicationListProps {
  applications: readonly Application[]
  onEdit(application: Application): void
}

export function ApplicationList({ applications, onEdit }: ApplicationListProps): ReactElement {
  return (
    <div className={layout.scroll}>
      <table className={`${layout.list} ${classes.table}`}>
        <thead>
          <tr>
            {['Name', 'Description', 'Contact', 'Since', 'Id'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            {['Choose', 'Actions'].map((column) => (
              <th key={column} scope="col">
                <span className="visually-hidden">{column}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {applications.map((application) => (
            <ApplicationRow key={application.id} application={application} onEdit={() => onEdit(application)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ApplicationRowProps {
  application: Application
  onEdit(): void
}

function ApplicationRow({ application, onEdit }: ApplicationRowProps): ReactElement {
  const { applicationId } = useSession()
  const { id, name, description, contact, createdAt } = application
  return (
    <tr>
      <td className={classes.name}>
        {name} {id === applicationId && <Tag>chosen</Tag>}
      </td>
      <Cell label="Description">{description || '–'}</Cell>
      <Cell label="Contact">{contact || '–'}</Cell>
      <Cell label="Since">
        <time title={formatDate(createdAt)}>{formatRelative(createdAt)}</time>
      </Cell>
      <Cell label="Id">
        <Copyable text={id} label={`the id of ${name}`} />
      </Cell>
      <td>{id !== applicationId && <Button onClick={() => chooseApplication(id)}>Work in it</Button>}</td>
      <td className={classes.actions}>
        <ApplicationMenu application={application} onEdit={onEdit} />
      </td>
    </tr>
  )
}

interface ApplicationMenuProps {
  application: Application
  onEdit(): void
}

function ApplicationMenu({ application, onEdit }: ApplicationMenuProps): ReactElement {
  const refusal = useRefusal()('applications', 'write', application.id)
  const remove = useRemoval(application)
  const navigate = useNavigate()
  return (
    <Menu
      trigger={<IconButton icon="more" label={`Actions of the application ${application.name}`} />}
      items={[
        { label: 'Name, contact and base map …', icon: 'edit', disabledReason: refusal, onSelect: onEdit },
        {
          label: 'Usage and limits',
          icon: 'chart',
          onSelect: () => void navigate({ to: '/usage/{-$applicationId}', params: { applicationId: application.id } }),
        },
        '-',
        { label: 'Delete …', icon: 'trash', isDanger: true, disabledReason: refusal, onSelect: remove },
      ]}
    />
  )
}

/** The server refuses to delete the default application, with a message. */
function useRemoval({ id, name }: Application): () => void {
  const { unscoped, applicationId } = useSession()
  const confirm = useConfirm()
  const { say } = useToast()
  const queryClient = useQueryClient()
  return () =>
    confirm({
      title: `Delete the application “${name}”?`,
      body: (
        <p>
          All that it owns goes with it: datasets and their tables, maps, tiles, files, keys, users, agents. Its keys
          stop working at once. It cannot be brought back.
        </p>
      ),
      action: 'Delete',
      mustType: name,
      async onConfirm() {
        await unscoped.applications.delete(id)
        say({ title: `“${name}” is deleted` })
        if (id === applicationId) chooseApplication(null)
        else await queryClient.invalidateQueries({ queryKey: queryKeys.applications.all })
      },
    })
}
