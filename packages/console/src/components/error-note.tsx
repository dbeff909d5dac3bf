/** An inline error: the server's message, its code, and the request id to copy. */
import { ApiError } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button } from './button.tsx'
import { Copyable } from './copyable.tsx'
import { Icon } from './icon.tsx'
import classes from './note.module.css'

export interface ErrorText {
  message: string
  code: string | undefined
  requestId: string | undefined
  /** Errors of single fields, by path. */
  fields: readonly { path: string; message: string }[]
}

/** A lazy chunk failed to load: after an update its file name no longer exists, or the connection is lost. */
const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message)

export function faultOf(error: unknown): ErrorText {
  if (!(error instanceof ApiError)) {
    const message = error instanceof Error ? error.message : String(error)
    return {
      message: isMissingPart(error)
        ? 'A part of the console could not be loaded. The server may have been updated: reload the page.'
        : message,
      code: undefined,
      requestId: undefined,
      fields: [],
    }
  }
  if (error.status === 0) {
    return {
      message: 'The server cannot be reached. Is it running?',
      code: error.code,
      requestId: undefined,
      fields: [],
    }
  }
  const { message, code, requestId, errors } = error
  return { message, code, requestId: requestId ?? undefined, fields: errors ?? [] }
}

interface ErrorNoteProps {
  error: unknown
  onRetry?: (() => void) | undefined
}

export function ErrorNote({ error, onRetry }: ErrorNoteProps): ReactElement {
  const { message, code, requestId, fields } = faultOf(error)
  return (
    <div role="alert" className={`${classes.note} ${classes.danger}`}>
      <Icon name="error" />
      <div>
        <p>{message}</p>
        {fields.length > 0 && (
          <ul>
            {fields.map((field) => (
              <li key={`${field.path} ${field.message}`}>
                <code>{field.path}</code> {field.message}
              </li>
            ))}
          </ul>
        )}
        {(code || requestId) && (
          <div className={classes.small}>
            {code && <code>{code}</code>}
            {requestId && <Copyable text={requestId} label="request id" before="Request" />}
          </div>
        )}
      </div>
      {isMissingPart(error) ? (
        <Button onClick={() => location.reload()}>Reload</Button>
      ) : (
        onRetry && <Button onClick={onRetry}>Try again</Button>
      )}
    </div>
  )
}
