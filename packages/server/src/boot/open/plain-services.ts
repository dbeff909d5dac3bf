// Services that are there as soon as they are made: nothing of them is started or closed.
import type { FastifyRequest } from 'fastify'
import { createAgentCache } from '../../agents/invocation/invoke-operations.ts'
import { createConnectRateLimit } from '../../agents/workers/connect-rate-limit.ts'
import { createConsoleFiles } from '../../api/console/console-files.ts'
import { baseUrlOf } from '../../api/http/base-url.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { publicLimits } from '../../api/server-info/limits.ts'
import { platformTypes } from '../../data/databases/drivers.ts'
import { createDatasetCache } from '../../data/datasets/dataset-cache.ts'
import { maxTimeoutMs } from '../../data/datasets/queries/query-parameters.ts'
import { createWriteSlots } from '../../data/editing/editing.ts'
import { createReadCrs } from '../../data/ogc/collections/crs.ts'
import { createEstimates } from '../../data/tiles/source/dataset-estimates.ts'
import type { MachineShare } from '../../kernel/concurrency/machine-share.ts'
import type { Db, Transaction } from '../../kernel/db/db.ts'
import { defaultLimits } from '../../kernel/db/embedded/embedded-limits.ts'
import type { Services } from '../../services.ts'
import { countAddress } from '../../tenants/auth/login-attempts.ts'
import { createBaseStyleReader } from '../../tenants/cartography/maps/base-style-file.ts'
import { createStyleCache } from '../../tenants/cartography/maps/map-operations.ts'
import { createSharedMaps } from '../../tenants/cartography/pictures/shared-maps.ts'
import { style } from '../../tenants/cartography/styles/style.ts'
import { addFirstKeys } from '../start/first-start.ts'
import { createAgentTools } from './agent-tools.ts'
import { createOpenApiText } from './internal-calls.ts'
import type { AppConfig, ServiceOptions } from './service-options.ts'

/** From what is installed here, and its settings. */
export const installedServices = ({ about, config, db }: ServiceOptions, share: MachineShare) => ({
  about,
  platformTypes,
  baseUrl: baseUrlFor(config),
  dataDirectory: config.DATA_DIR,
  limits: limitsToTell(config, share, db),
  mayConnectWorker: createConnectRateLimit(share),
  writeSlots: createWriteSlots(),
  consoleFiles: createConsoleFiles(),
  readBaseStyle: createBaseStyleReader(),
  openApiText: createOpenApiText(about.version.tag),
})

/** On the platform's database. */
export const databaseServices = ({ db, secrets, config }: ServiceOptions) => ({
  addFirstKeys: (tx: Transaction, applicationId: string) => addFirstKeys(tx, secrets, applicationId),
  countAddress: (address: string) => countAddress(db, address),
  sharedMaps: createSharedMaps(db),
  readCrs: createReadCrs(db),
  ...createAgentTools(db, secrets, baseUrlFor(config)),
})

/** Caches of what requests need to know on the way. */
export const rememberedRecords = (
  base: BaseServices,
  { connections, sources }: Pick<Services, 'connections' | 'sources'>,
) => ({
  styleCache: createStyleCache({ resource: style, services: base }),
  datasetCache: createDatasetCache(base, connections.find, sources.current),
  agentCache: createAgentCache(base),
  estimates: createEstimates(base.db, sources),
})

/** What `trustProxy` is to the web server. */
export const trustedProxies = ({ TRUST_PROXY }: AppConfig): boolean | string =>
  TRUST_PROXY === 'true' || TRUST_PROXY || false

const baseUrlFor = (config: AppConfig) => (request: FastifyRequest) =>
  baseUrlOf(request, config.BASE_URL, trustedProxies(config) !== false)

/** Those of all workers together. The embedded database ends queries sooner than a `timeout` may ask. */
const limitsToTell = (config: AppConfig, { count }: MachineShare, { kind }: Db) =>
  publicLimits(
    {
      ...config,
      STREAMS_PER_APPLICATION: config.STREAMS_PER_APPLICATION * count,
      CONNECTIONS_PER_APPLICATION: config.CONNECTIONS_PER_APPLICATION * count,
    },
    kind === 'embedded' ? defaultLimits.cpuMs : maxTimeoutMs,
  )
