type Destination = { type?: unknown; host?: unknown; port?: unknown; user?: unknown; db?: unknown }

/** What a password is sealed for. */
export const passwordPlace = (applicationId: string, { type, host, port, user, db }: Destination): string =>
  JSON.stringify(['databases.password', applicationId, type, host, port, user, db])
