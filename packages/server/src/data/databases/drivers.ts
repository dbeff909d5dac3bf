import type { DatabaseDriver, ServerFields, ServerKey } from './driver.ts'
import { duckdb } from './duckdb/driver.ts'
import { internal, postgres } from './postgres/drivers.ts'

/** The kinds of database: the type of a record is a key, and so are the API's enum and the list of drivers. */
export const drivers = { internal, postgres, duckdb } satisfies Record<string, DatabaseDriver>

export type DriverName = keyof typeof drivers

export const driverNames = Object.keys(drivers) as DriverName[]

export const driverOf = (type: unknown): DatabaseDriver | undefined =>
  Object.hasOwn(drivers, String(type)) ? drivers[type as DriverName] : undefined

/** Whether tables of such a database are in the platform's own, in the schema of the application. */
export const isPlatformType = (type: unknown): boolean => driverOf(type)?.isPlatform === true

/** For queries over records. */
export const platformTypes: readonly string[] = driverNames.filter(isPlatformType)

/** Which server and database a record leads to; empty for a driver that this server does not know. */
export const serverKeyOf = (record: ServerFields): ServerKey => driverOf(record.type)?.serverKey(record) ?? ''

/** Whether this installation has the driver. */
export function isInstalled(type: unknown): boolean {
  const driver = driverOf(type)
  return driver !== undefined && driver.isInstalled?.() !== false
}
