import type { Db } from '../../../kernel/db/db.ts'

/** Where tables are made: the application's schema in the platform's database, or the application's own database. */
export type Target = {
  readonly db: Db
  readonly schema: string
  readonly databaseId: string
  /** In the platform's database, so everything can be published in one transaction. */
  readonly isOwn: boolean
  /** The connection target of the database record when it was opened: [type, host, port, user, db] as JSON. */
  readonly destination: string
  /** The quota in bytes; undefined means unlimited. */
  readonly room?: number
}
