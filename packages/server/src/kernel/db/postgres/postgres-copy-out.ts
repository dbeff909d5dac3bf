import { Readable } from 'node:stream'
import type pg from 'pg'
import type { Sql } from '../sql.ts'
import { encodeStatement } from '../values.ts'

/**
 * COPY … TO STDOUT. Settles when the server is ready again. `onStart` gets the rows as a stream with back-pressure: while its
 * buffer is full nothing is read from the server. A reader that leaves lets the rest pass unread.
 */
export function copyOut(client: pg.Client, statement: Sql, onStart: (rows: Readable) => void): Promise<void> {
  const { text, values } = encodeStatement(statement)
  if (values.length > 0) throw new Error('COPY takes no values')
  return new Promise((resolve, reject) => {
    let connection: pg.Connection | undefined
    const resume = (): void => void connection?.stream.resume()
    const rows = new Readable({
      read: resume,
      destroy(error, done) {
        resume()
        done(error)
      },
    })
    // Whoever reads is told by the promise.
    rows.on('error', () => {})
    const query = {
      submit(used: pg.Connection) {
        connection = used
        used.query(text)
        onStart(rows)
      },
      handleCopyData({ chunk }: { chunk: Buffer }) {
        // A copy: the driver reuses the memory.
        if (!rows.destroyed && !rows.push(Buffer.from(chunk))) connection?.stream.pause()
      },
      handleRowDescription() {},
      handleDataRow() {},
      handleEmptyQuery() {},
      handlePortalSuspended() {},
      handleCommandComplete() {},
      handleReadyForQuery() {
        rows.push(null)
        resolve()
      },
      handleError(error: Error) {
        rows.destroy(error)
        reject(error)
      },
    }
    client.query(query)
  })
}
