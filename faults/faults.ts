import { busOutage } from './cases/bus-outage.ts'
import { databaseClock, serverClock } from './cases/clock-jump.ts'
import { connections } from './cases/connections.ts'
import { databaseOutage } from './cases/database-outage.ts'
import { databaseFull, dataDirectoryFull } from './cases/disk-full.ts'
import { hostileBodies } from './cases/hostile-bodies.ts'
import { hostileTenant } from './cases/hostile-tenant.ts'
import { killOnEmbedded, killOnPostgres } from './cases/kill.ts'
import { listeners } from './cases/listeners.ts'
import { manyTenants } from './cases/many-tenants.ts'
import { rollingReplicas, rollingWorkers } from './cases/rolling-restart.ts'
import { idempotency, rateLimit, revocation } from './cases/shared-state.ts'
import { soak } from './cases/soak.ts'
import { storageOutage } from './cases/storage-outage.ts'
import { uploadsOnReplicas } from './cases/uploads-on-replicas.ts'
import { vanishingClients } from './cases/vanishing-clients.ts'
import type { Fault } from './fault.ts'

export const faults: readonly Fault[] = [
  killOnPostgres,
  killOnEmbedded,
  uploadsOnReplicas,
  databaseOutage,
  dataDirectoryFull,
  databaseFull,
  storageOutage,
  rollingReplicas,
  rollingWorkers,
  revocation,
  rateLimit,
  idempotency,
  connections,
  listeners,
  busOutage,
  serverClock,
  databaseClock,
  hostileTenant,
  hostileBodies,
  manyTenants,
  soak,
  vanishingClients,
]
