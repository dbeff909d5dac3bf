/** `internal` is the application's own schema in the platform's database, `postgres` any server it can reach. */
export const driverNames = ['internal', 'postgres'] as const
export type DriverName = (typeof driverNames)[number]

type Destination = { type?: unknown; host?: unknown; port?: unknown; user?: unknown; db?: unknown }

/** What a password is sealed for. */
export const passwordPlace = (applicationId: string, { type, host, port, user, db }: Destination): string =>
  JSON.stringify(['databases.password', applicationId, type, host, port, user, db])
