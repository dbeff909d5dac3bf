/** One mail as text, with its link as a button. */
import type { OutboxMail } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactElement } from 'react'
import { LinkButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copyable.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note, Skeleton, StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatDate } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { linkLabel, mailDots, statusLabels, templateLabel } from './mail-labels.ts'
import { linksIn, piecesOf } from './mail-links.ts'
import classes from './outbox.module.css'

interface MailRecordProps {
  id: string
}

export function MailRecord({ id }: MailRecordProps): ReactElement {
  const client = useClient()
  const {
    data: mail,
    error,
    refetch,
  } = useQuery({
    queryKey: queryKeys.outbox.one(id),
    queryFn: ({ signal }) => client.server.outbox.get(id, { signal }),
  })
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!mail) return <Skeleton height={240} />
  return (
    <article className={`${layout.padded} ${classes.mail}`}>
      <h2>{mail.subject ?? templateLabel(mail.template)}</h2>
      <MailFacts mail={mail} />
      {mail.text === null ? (
        <Note>The words of this mail are not kept once it was sent.</Note>
      ) : (
        <MailText text={mail.text} template={mail.template} />
      )}
    </article>
  )
}

interface MailFactsProps {
  mail: OutboxMail
}

function MailFacts({ mail }: MailFactsProps): ReactElement {
  const failures = mail.attempts.filter(({ error }) => error)
  return (
    <dl className={layout.definitions}>
      <dt>To</dt>
      <dd>{mail.to.join(', ')}</dd>
      <dt>Written</dt>
      <dd>{formatDate(mail.createdAt)}</dd>
      <dt>What for</dt>
      <dd>{templateLabel(mail.template)}</dd>
      <dt>State</dt>
      <dd>
        <StatusDot kind={mailDots[mail.status]}>{statusLabels[mail.status]}</StatusDot>
      </dd>
      {failures.map(({ at, error }) => (
        <Fragment key={at}>
          <dt>Tried</dt>
          <dd>
            {formatDate(at)}: {error}
          </dd>
        </Fragment>
      ))}
    </dl>
  )
}

interface MailTextProps {
  text: string
  template: string
}

function MailText({ text, template }: MailTextProps): ReactElement {
  const [link, ...others] = linksIn(text)
  return (
    <>
      {link && (
        <div className={layout.row}>
          <LinkButton variant="primary" icon="external" href={link} target="_blank" rel="noreferrer">
            {others.length > 0 ? 'Open the first link' : linkLabel(template)}
          </LinkButton>
          <CopyButton text={link} label="link" />
        </div>
      )}
      <div className={classes.text}>
        <p>
          {piecesOf(text).map((piece, index) =>
            piece.isLink ? (
              <a key={index} href={piece.text} target="_blank" rel="noreferrer">
                {piece.text}
              </a>
            ) : (
              piece.text
            ),
          )}
        </p>
        <CopyButton text={text} label="text" />
      </div>
    </>
  )
}
