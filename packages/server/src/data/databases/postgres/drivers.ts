import type { Entity } from '../../../api/resource/resource.ts'
import { createSharedConnections } from '../../../kernel/db/postgres/postgres-pool.ts'
import { invalid } from '../../../kernel/errors.ts'
import type { DatabaseDriver } from '../driver.ts'
import { columnTraits } from './column-type.ts'
import { connectInternal, connectServer } from './connect.ts'
import { readConnectionString } from './connection-string.ts'
import { serverForm } from './form-fields.ts'
import { readTls } from './tls.ts'

/** To all external servers together. They take no slot on the platform's server, only memory of this one. */
const maxExternal = 200

const engines = ['PostgreSQL', 'PostGIS']

/** The schema of the application in the platform's database. */
export const internal: DatabaseDriver = {
  title: 'Internal: a place in the platform’s own database',
  isPlatform: true,
  isWritable: true,
  canFollow: true,
  summary: 'In the platform’s own database',
  contents: 'Tables and views of this application',
  engines,
  fields: [],
  serverKey: () => 'platform',
  checkRecord() {},
  columnTraits,
  start(services) {
    const shared = createSharedConnections(services.maxConnections, { leavesRoom: true })
    return {
      keyOf: ({ applicationId }) => applicationId,
      connect: (record) => connectInternal(services, shared, record),
      close: async () => shared.close(),
    }
  },
}

/** Any server that the application can reach. */
export const postgres: DatabaseDriver = {
  title: 'PostgreSQL, PostGIS',
  isPlatform: false,
  isWritable: true,
  canFollow: true,
  summary: '{user}@{host}:{port}/{db}',
  contents: 'Tables and views that the user of this connection may read',
  engines,
  ...serverForm,
  serverKey: ({ host, port, db }) => JSON.stringify([host.toLowerCase(), port, db]),
  checkRecord: checkServer,
  columnTraits,
  readConnectionString(text) {
    const { ssl, ...fields } = readConnectionString(text)
    return { fields, metadata: ssl === undefined ? {} : { ssl } }
  },
  start(services) {
    const shared = createSharedConnections(maxExternal, { leavesRoom: true })
    return {
      keyOf: ({ id, revision }) => `${id} ${revision}`,
      connect: (record) => connectServer(services, shared, record),
      close: async () => shared.close(),
    }
  },
}

/** Parts only: a connection string or a path would let the driver read files and sockets of this machine. */
function checkServer({ host, port, user, db, metadata }: Entity): void {
  if (!/^[\w.:-]+$/.test(String(host))) throw invalid('body/host', 'must be a host name or an IP address')
  if (Number(port) < 1) throw invalid('body/port', 'must be from 1 to 65535')
  if (user === '') throw invalid('body/user', 'is required')
  if (db === '') throw invalid('body/db', 'is required')
  readTls(metadata as Entity)
}
