/** The outbox: mails that a server without SMTP stores instead of sending; with SMTP, what became of them. */
import type { OutboxEntry } from '@graticule/client'
import { useParams } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { IconButton } from '../../components/button.tsx'
import { CodeBlock } from '../../components/copyable.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton, StatusDot } from '../../components/note.tsx'
import { Columns, layout, Page } from '../../components/page.tsx'
import { RecordList } from '../../components/records/record-list.tsx'
import { formatRelative } from '../../format.ts'
import { useSession } from '../../session/session.tsx'
import { mailDots, templateLabel } from './mail-labels.ts'
import { MailRecord } from './mail-record.tsx'
import { useOutbox } from './outbox-query.ts'

export function OutboxPage(): ReactElement {
  const { mailId } = useParams({ from: '/shell/outbox/{-$mailId}' })
  const { access } = useSession()
  const { data: mails, error, isFetching, refetch } = useOutbox()
  if (access.type !== 'master') return <NeedsMaster />
  return (
    <Page
      title="Outbox"
      facts={mails && (mails.length === 1 ? '1 mail' : `${mails.length} mails`)}
      actions={<IconButton icon="refresh" label="Refresh" disabled={isFetching} onClick={() => void refetch()} />}
      {...(mailId ? { back: { to: '/outbox', label: 'All mails' } } : {})}
      isPadded={false}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!mails && !error && <Skeleton height={240} />}
      {mails?.length === 0 && (
        <div className={layout.padded}>
          <Empty title="No mail yet">
            <p>
              Without <code>SMTP_URL</code> the server keeps its mail here: confirmations of sign-ups, password resets,
              messages to contact points of kind e-mail. With it, this page says whether they were sent.
            </p>
          </Empty>
        </div>
      )}
      {mails && mails.length > 0 && (
        <Columns
          list={<RecordList label="Mails" items={mails.map(itemOf)} />}
          record={mailId ? <MailRecord key={mailId} id={mailId} /> : null}
          hint="Choose a mail to read it and follow its link."
        />
      )}
    </Page>
  )
}

const itemOf = (mail: OutboxEntry) => ({
  id: mail.id,
  to: `/outbox/${mail.id}`,
  title: mail.subject ?? templateLabel(mail.template),
  aside: <StatusDot kind={mailDots[mail.status]}>{formatRelative(mail.createdAt)}</StatusDot>,
  text: mail.to.join(', '),
})

function NeedsMaster(): ReactElement {
  return (
    <Page title="Outbox">
      <Empty title="Reading mail needs a master key">
        <p>
          Mail carries links that are as good as passwords, so no key of an application reads it. Whoever runs the
          server makes a master key with this command, then signs in with it.
        </p>
        <CodeBlock text="npm start -- create-key --type master" label="command that makes a master key" />
      </Empty>
    </Page>
  )
}
