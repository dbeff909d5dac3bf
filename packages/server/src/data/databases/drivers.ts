import type { Driver } from './driver.ts'
import { duckdb } from './duckdb/driver.ts'
import { internal, postgres } from './postgres/drivers.ts'

/** The kinds of database: the type of a record is a key, and so are the API's enum and the list of drivers. */
export const drivers = { internal, postgres, duckdb } satisfies Record<string, Driver>

export type DriverName = keyof typeof drivers

export const driverNames = Object.keys(drivers) as DriverName[]

export const driverOf = (type: unknown): Driver | undefined =>
  Object.hasOwn(drivers, String(type)) ? drivers[type as DriverName] : undefined

/** Whether this installation has the driver. */
export function isInstalled(type: unknown): boolean {
  const driver = driverOf(type)
  return driver !== undefined && driver.isInstalled?.() !== false
}
