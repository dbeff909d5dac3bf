import type { Db } from '../../../kernel/db/db.ts'
import type { ServerKey } from '../../databases/driver.ts'

/** Where tables are made: the application's schema in the platform's database, or an external one. */
export type Target = {
  readonly db: Db
  readonly schema: string
  readonly databaseId: string
  /** In the platform's database, so everything can be published in one transaction. */
  readonly isPlatform: boolean
  /** Where the database record led when it was opened, and as whom. */
  readonly loginKey: string
  readonly serverKey: ServerKey
  /** The quota in bytes; undefined means unlimited. */
  readonly room?: number
}
