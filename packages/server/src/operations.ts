import type { FastifyRequest } from 'fastify'
import type { KeyCache } from './access/key-cache.ts'
import type { Secrets } from './access/secrets.ts'
import { agents } from './agents/agent.ts'
import { withLiveFields } from './agents/agent-operations.ts'
import type { Agents } from './agents/agents.ts'
import { historyOperations } from './agents/history-operations.ts'
import { type InvokeDependencies, invokeOperations } from './agents/invoke-operations.ts'
import { workerOperations } from './agents/worker-operations.ts'
import { apiDocsOperations } from './api-docs/api-docs.ts'
import { apiKeyOperations, apiKeys } from './apikeys/api-key.ts'
import { appConfigs } from './appconfig/app-config.ts'
import { configOperations } from './appconfig/config-operations.ts'
import { recordOperations } from './appconfig/record-operations.ts'
import { applications } from './applications/application.ts'
import { type ApplicationKeys, applicationOperations } from './applications/application-operations.ts'
import { authOperations } from './auth/auth-operations.ts'
import type { AuthParts } from './auth/parts.ts'
import { contactPoints } from './contactpoints/contact-point.ts'
import { contactPointOperations } from './contactpoints/contact-point-operations.ts'
import type { Deliveries } from './contactpoints/deliveries.ts'
import type { Connections } from './databases/connection.ts'
import { databases } from './databases/database.ts'
import { databaseOperations } from './databases/database-operations.ts'
import { tableOperations } from './databases/table-operations.ts'
import { datasets } from './datasets/dataset.ts'
import { queryOperations } from './datasets/query-operations.ts'
import type { Sources } from './datasets/sources.ts'
import type { StreamSlots } from './datasets/stream-slots.ts'
import type { Db } from './db/db.ts'
import { sql } from './db/sql.ts'
import { createEstimates } from './estimates.ts'
import { addFirstKeys } from './first-start.ts'
import { openApi } from './http/openapi.ts'
import type { Operation } from './http/operation.ts'
import type { Mailer } from './mail/mailer.ts'
import { outboxOperations } from './mail/outbox-operations.ts'
import { assetOperations } from './maps/asset-operations.ts'
import type { Fonts } from './maps/fonts.ts'
import { homeOperations } from './maps/home-operations.ts'
import { mapOperations } from './maps/map-operations.ts'
import type { Sprites } from './maps/sprites.ts'
import { mcpOperations } from './mcp/mcp-operations.ts'
import { createToolTokens, type ToolGrant, type ToolTokens } from './mcp/tool-token.ts'
import type { Metrics } from './metrics/metrics.ts'
import { metricsOperations } from './metrics/metrics-operations.ts'
import { createRemovals } from './removals.ts'
import { crudOperations } from './resource/crud.ts'
import { metadataOperations } from './resource/metadata.ts'
import type { Resource } from './resource/resource.ts'
import { outputSchema } from './resource/schemas.ts'
import type { Limits } from './server-info/limits.ts'
import { type ServerConfig, serverInfoOperations } from './server-info/server-info.ts'
import type { Storage } from './server-info/storage.ts'
import { styles } from './styles/style.ts'
import type { StyleCheck } from './styles/style-check.ts'
import { basemapOperations } from './tiles/basemap-operations.ts'
import type { TileBudget } from './tiles/dataset-tiles.ts'
import { createKeptRows } from './tiles/kept-rows.ts'
import { createKnownSources } from './tiles/known-sources.ts'
import { createServedTiles } from './tiles/served-tiles.ts'
import { tileDriverOperations } from './tiles/tile-drivers.ts'
import { tileOperations } from './tiles/tile-operations.ts'
import { tileSources } from './tiles/tile-source.ts'
import type { Tiling } from './tiling.ts'
import type { Uploading } from './uploading.ts'
import { uploads } from './uploads/upload.ts'
import { uploadOperations } from './uploads/upload-operations.ts'
import { users } from './users/user.ts'
import { userOperations } from './users/user-operations.ts'

export type Parts = Omit<AuthParts, 'mailer'> & {
  db: Db
  secrets: Secrets
  keys: KeyCache
  styleCheck: StyleCheck
  connections: Connections
  sources: Sources
  slots: StreamSlots
  agents: Agents
  mailer: Mailer
  deliveries: Deliveries
  about: ServerConfig
  limits: Limits
  isStopping: () => boolean
  storage: Storage
  tiling: Tiling
  budget: TileBudget
  baseUrl(request: FastifyRequest): string
  fonts: Fonts
  sprites: Sprites
  uploading: Uploading
  dataDirectory: string
  metrics: Metrics
}

/** The table of contents: every operation there is. Areas meet here and nowhere else. */
export function allOperations(parts: Parts): Operation[] {
  const { db, secrets, keys, passwords, styleCheck, connections, sources, about, isStopping } = parts
  // To describe operations nothing needs to be there.
  const { tiling = {} as Tiling, baseUrl, fonts, sprites, uploading = {} as Uploading } = parts
  const removals = createRemovals(parts)
  const standard = (resource: Resource): Operation[] => [
    ...crudOperations({ db, resource }),
    ...metadataOperations({ db, resource }),
  ]
  const ownApplication = () => application
  const database = databases(ownApplication, secrets)
  const application = applications(db, () => database, removals.application)
  const user = users({ db, secrets, passwords, applications: ownApplication })
  const related = { applications: ownApplication, databases: () => database, users: () => user }
  const dataset = datasets(db, related, sources, secrets, removals.dataset)
  const contactPoint = contactPoints(db, secrets, ownApplication)
  const appConfig = appConfigs(ownApplication)
  const agent = agents({
    db,
    secrets,
    applications: ownApplication,
    isBridged: (type) => parts.agents.bridges.serves(type),
  })
  const style = styles(ownApplication, styleCheck)
  const tileSource = tileSources(ownApplication, tiling, removals.tileSource)
  const toolTokens = createToolTokens(secrets)
  const operations = [
    ...applicationOperations({ db, resource: application }, keysOfApplications(parts)),
    ...apiKeyOperations(db, apiKeys(db, secrets, { applications: ownApplication, users: () => user }), keys),
    ...userOperations(db, user, parts),
    ...authOperations(parts, outputSchema(user)),
    ...standard(style),
    ...mapOperations({ db, styles: style, baseUrl }),
    ...assetOperations({ fonts, sprites }),
    ...homeOperations(),
    ...dataOperations(parts, standard, { database, dataset }),
    ...withLiveFields(standard(agent), parts.agents),
    ...invokeOperations({ db, secrets, resource: agent, agents: parts.agents, toolsFor: toolsFor(parts, toolTokens) }),
    ...workerOperations(db, agent, parts.agents),
    ...historyOperations(db, agent, parts.agents),
    ...contactPointOperations(db, contactPoint, parts.deliveries),
    ...standard(contactPoint),
    ...outboxOperations(db, parts.mailer),
    ...tileDriverOperations(),
    ...standard(tileSource),
    ...mapServerOperations(parts, tiling, tileSource, dataset),
    ...uploadOperations({ store: { db, resource: uploads(related) }, ...uploading, isStopping }),
    ...configOperations(db, appConfig, { svc: about }),
    ...recordOperations(db, appConfig),
    ...serverInfoOperations(db, { ...about, limits: parts.limits }, isStopping, parts.storage),
    ...metricsOperations(parts.metrics),
  ]
  const mcp = mcpOperations({
    operations,
    version: () => about.version.tag,
    readToken: (token) => readTools(db, toolTokens, token),
    estimates: createEstimates(db, connections),
  })
  const docs: Operation[] = apiDocsOperations(() => openApi([...operations, ...mcp, ...docs], about.version.tag))
  return [...operations, ...mcp, ...docs]
}

const keysOfApplications = ({ keys, bearers, secrets }: Parts): ApplicationKeys => ({
  addFirst: (tx, applicationId) => addFirstKeys(tx, secrets, applicationId),
  forget(applicationId) {
    keys.forgetApplication(applicationId)
    bearers.forget({ applicationId })
  },
})

/** Databases, and the datasets in them. */
function dataOperations(
  { db, connections, sources, slots }: Parts,
  standard: (resource: Resource) => Operation[],
  { database, dataset }: { database: Resource; dataset: Resource },
): Operation[] {
  const datasetOperations = standard(dataset)
  const create = named(datasetOperations, 'datasets.create')
  return [
    ...databaseOperations(db, database, connections),
    ...tableOperations({ db, databases: database, datasets: dataset, connections, create }),
    ...standard(database),
    ...datasetOperations,
    ...queryOperations({ db, resource: dataset, sources, slots }),
  ]
}

function named(operations: readonly Operation[], id: string): Operation {
  const found = operations.find((operation) => operation.id === id)
  if (!found) throw new Error(`There is no operation ${id}`)
  return found
}

/** Tiles, of sources and of the world. */
function mapServerOperations(parts: Parts, tiling: Tiling, tileSource: Resource, dataset: Resource): Operation[] {
  const { db, budget, baseUrl } = parts
  const { data, archives, archiveInfo, detect, workers, cache } = tiling
  const resources = { tileSources: tileSource, datasets: dataset }
  const known = createKnownSources({ db, ...resources, data, archives: archiveInfo, detect })
  const kept = createKeptRows()
  const served = createServedTiles({ data, workers, budget, kept, archives, cache })
  return [
    ...basemapOperations({ archiveInfo, served, baseUrl }),
    ...tileOperations({ data, workers, budget, kept, known, served, baseUrl }),
  ]
}

/** A worker may use the tools for whoever asks its agent, within the agent's datasets, as long as it is at work. */
function toolsFor({ baseUrl }: Parts, tokens: ToolTokens): InvokeDependencies['toolsFor'] {
  return (request, caller, { id: agentId, applicationId, datasetIds }) =>
    (invocationId, remainingMs) => {
      const expiresAt = new Date(Date.now() + remainingMs)
      const token = tokens.issue({ invocationId, agentId, caller, applicationId, datasetIds, expiresAt })
      return { mcpUrl: `${baseUrl(request)}/api/v1/mcp`, token, expiresAt: expiresAt.toISOString() }
    }
}

/** Records are written a little later than the token, so only one that says so is over; they go with the agent. */
async function readTools(db: Db, tokens: ToolTokens, token: string): Promise<ToolGrant | undefined> {
  const grant = tokens.read(token)
  if (!grant) return undefined
  const [running] = await db.query(sql`
    SELECT FROM svc.agents WHERE id = ${grant.agentId}::uuid AND NOT EXISTS (
      SELECT FROM svc.agent_invocations WHERE id = ${grant.invocationId}::uuid AND status <> 'running')`)
  return running && grant
}
