import Type, { type Static } from 'typebox'
import type { Operation } from '../../api/http/operation.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { database } from './database.ts'
import type { DatabaseDriver } from './driver.ts'
import { driverSchema } from './driver-details.ts'
import { type DriverName, driverNames, drivers, isInstalled } from './drivers.ts'
import { type DatabaseServices, operation } from './services.ts'
import { tableOperations } from './table-operations.ts'
import { testOperations } from './test-operations.ts'

const { path } = database

export const databaseOperations: readonly Operation<DatabaseServices>[] = [
  operation({
    id: 'databases.drivers',
    method: 'GET',
    path: `${path}/drivers`,
    summary: 'List the kinds of database',
    access: { class: 'databases', level: 'execute', id: () => undefined },
    query: Type.Object({
      details: Type.Optional(
        Type.Boolean({ description: 'Objects in place of names: what each can do, and the fields of its form' }),
      ),
    }),
    success: {
      status: 200,
      description: 'Their names, or with `details` what each can do',
      schema: Type.Union([Type.Array(Type.String()), Type.Array(driverSchema)]),
    },
    async handle(_, { query: { details } }) {
      const names = driverNames.filter(isInstalled).toSorted()
      return { body: details ? names.map(detailsOf) : names }
    },
  }),
  ...testOperations,
  ...tableOperations,
  ...standardOperations(database),
]

/** The functions of the driver are not for callers. */
function detailsOf(name: DriverName): Static<typeof driverSchema> {
  const { title, isPlatform, isWritable, canFollow, summary, contents, engines, ways, fields }: DatabaseDriver =
    drivers[name]
  return { name, title, isPlatform, isWritable, canFollow, summary, contents, engines, ...(ways && { ways }), fields }
}
