/** The table of keys, with a description of each one's permissions. */
import type { ApiKey } from '@graticule/client'
import type { ReactElement, ReactNode } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { StatusDot, Tag } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { Menu } from '../../../components/popup/menu.tsx'
import { formatDate, formatRelative } from '../../../format.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { useActivityItem } from '../../activity/activity-item.ts'
import classes from '../access.module.css'
import { useMissingApplication } from '../access-tabs.tsx'
import { aclSentence } from '../acl/acl-sentence.ts'
import { useDefaultKey } from './default-key.ts'
import { useDeleteKey } from './delete-key.tsx'
import { KeySecret } from './key-secret.tsx'

interface KeyListProps {
  keys: readonly ApiKey[]
  onReplace(key: ApiKey): void
  onDuplicate(key: ApiKey): void
}

const columns = ['Name', 'Type', 'What it may do', 'Expires', 'Last used', 'Origins', 'Key']

export function KeyList({ keys, ...actions }: KeyListProps): ReactElement {
  return (
    <div className={layout.scroll}>
      <table className={`${layout.list} ${classes.table}`}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((apiKey, index) => (
            // The id is a secret, so it is not used as the React key.
            <KeyRow key={`${apiKey.createdAt} ${index}`} apiKey={apiKey} {...actions} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function KeyRow({ apiKey, ...actions }: Omit<KeyListProps, 'keys'> & { apiKey: ApiKey }): ReactElement {
  const { description, type, permissions, expiresAt, lastUsedAt, allowedOrigins, id } = apiKey
  const name = description || 'Without a name'
  return (
    <tr>
      <td className={classes.name}>
        {name} <KeyTags apiKey={apiKey} />
      </td>
      <Cell label="Type">{type}</Cell>
      <Cell label="May">{aclSentence(permissions)}</Cell>
      <Cell label="Expires">
        <Expires at={expiresAt} />
      </Cell>
      <Cell label="Last used">
        {lastUsedAt === null ? 'never' : <time title={formatDate(lastUsedAt)}>{formatRelative(lastUsedAt)}</time>}
      </Cell>
      <Cell label="Origins">{allowedOrigins?.join(', ') ?? 'anywhere'}</Cell>
      <td>
        <KeySecret id={id} name={name} />
      </td>
      <td className={classes.actions}>
        <KeyMenu apiKey={apiKey} name={name} {...actions} />
      </td>
    </tr>
  )
}

interface CellProps {
  label: string
  children: ReactNode
}

/** On phones each cell shows its label. */
export function Cell({ label, children }: CellProps): ReactElement {
  return <td data-label={label}>{children}</td>
}

interface KeyTagsProps {
  apiKey: ApiKey
}

function KeyTags({ apiKey }: KeyTagsProps): ReactElement {
  const client = useClient()
  const defaultKey = useDefaultKey()
  return (
    <>
      {client.apiKey === apiKey.id && <Tag>signed in</Tag>}
      {defaultKey === apiKey.id && <Tag>users’ default</Tag>}
    </>
  )
}

const soonMs = 14 * 86_400_000

interface ExpiresProps {
  at: string | null
}

function Expires({ at }: ExpiresProps): ReactElement {
  if (at === null) return <>never</>
  const left = Date.parse(at) - Date.now()
  const time = <time title={formatDate(at)}>{left < 0 ? 'expired' : formatRelative(at)}</time>
  if (left < 0) return <StatusDot kind="danger">{time}</StatusDot>
  return left < soonMs ? <StatusDot kind="warn">{time}</StatusDot> : time
}

interface KeyMenuProps extends Omit<KeyListProps, 'keys'> {
  apiKey: ApiKey
  name: string
}

function KeyMenu({ apiKey, name, onReplace, onDuplicate }: KeyMenuProps): ReactElement {
  const refusal = useRefusal()('apikeys', 'write')
  const missing = useMissingApplication()
  const deleteKey = useDeleteKey()
  const activity = useActivityItem({ key: apiKey.fingerprint })
  return (
    <Menu
      trigger={<IconButton icon="more" label={`Actions of the key ${name}`} />}
      items={[
        { label: 'Replace …', icon: 'refresh', disabledReason: missing ?? refusal, onSelect: () => onReplace(apiKey) },
        { label: 'Duplicate …', icon: 'copy', disabledReason: missing ?? refusal, onSelect: () => onDuplicate(apiKey) },
        activity,
        '-',
        {
          label: 'Delete …',
          icon: 'trash',
          isDanger: true,
          disabledReason: refusal,
          onSelect: () => deleteKey(apiKey),
        },
      ]}
    />
  )
}
