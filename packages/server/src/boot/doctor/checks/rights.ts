import { codeOf } from '../../../kernel/db/database-error.ts'
import { type Need, needsQuery } from '../../../kernel/db/schema/needs.ts'
import { type Check, type Database, type Finding, fault, isPostgres, ok } from '../check.ts'

/** What the server's role needs of its database, as readiness asks it, with the statement that gives each thing. */
export const rightsChecks: readonly Check[] = [
  {
    name: 'rights',
    applies: isPostgres,
    async run({ database }) {
      const client = await database()
      if (!client) return []
      // What is missing of the role itself and of PostGIS other checks say.
      const missing = await needsOf(client, ['rights', 'session'])
      return missing.length === 0 ? ok('The role of the server has every right that it needs.') : missing
    },
  },
]

/** A fault for each thing that is missing. */
export async function needsOf(client: Database, subjects: readonly Need['subject'][]): Promise<Finding[]> {
  try {
    const { rows } = await client.query(needsQuery)
    const missing = (rows as Need[]).filter(({ subject }) => subjects.includes(subject))
    return missing.map(({ what, mend }) => fault(`The server lacks ${what}.`, mend))
  } catch (error) {
    if (codeOf(error) !== '42501') throw error
    return [fault('The role of the server may not read the catalogs.', 'As a superuser: npm start -- hardening | psql')]
  }
}
