/** The table of contents: every operation and every resource. Areas meet here and in `services.ts`. */
import { agent } from './agents/agent.ts'
import { agentOperations } from './agents/agent-operations.ts'
import { historyOperations } from './agents/history/history-operations.ts'
import { invokeOperations } from './agents/invocation/invoke-operations.ts'
import { mcpOperations } from './agents/mcp/mcp-operations.ts'
import { workerOperations } from './agents/workers/worker-operations.ts'
import { apiDocsOperations } from './api/api-docs/api-docs.ts'
import { consoleOperations } from './api/console/console-operations.ts'
import type { Operation } from './api/http/operation.ts'
import { metricsOperations } from './api/metrics/metrics-operations.ts'
import type { Resource } from './api/resource/resource.ts'
import { serverInfoOperations } from './api/server-info/server-info.ts'
import { changeOperations } from './data/changes/change-operations.ts'
import { database } from './data/databases/database.ts'
import { databaseOperations } from './data/databases/database-operations.ts'
import { dataset, datasetOperations } from './data/datasets/dataset.ts'
import { databaseQuery } from './data/datasets/queries/database-query.ts'
import { queryOperations } from './data/datasets/queries/query-operations.ts'
import { withRefresh } from './data/datasets/refresh-operation.ts'
import { tryRules } from './data/datasets/rules/try-rules.ts'
import { savedQuery, savedQueryOperations } from './data/datasets/saved-query.ts'
import { makingTables } from './data/editing/create-dataset.ts'
import { editOperations } from './data/editing/edit-operations.ts'
import { ogcOperations } from './data/ogc/ogc-operations.ts'
import { basemapOperations } from './data/tiles/basemap/basemap-operations.ts'
import { tileOperations } from './data/tiles/http/tile-operations.ts'
import { tileDriverOperations } from './data/tiles/source/tile-drivers.ts'
import { tileSource, tileSourceOperations } from './data/tiles/source/tile-source.ts'
import { uploadOperations } from './data/uploads/http/upload-operations.ts'
import { removalOperations } from './data/uploads/publish/removals.ts'
import { upload } from './data/uploads/record/upload.ts'
import { webhookOperations } from './data/webhooks/webhook-operations.ts'
import type { Services } from './services.ts'
import { accessOperation } from './tenants/apikeys/access-operation.ts'
import { apiKey, apiKeyOperations } from './tenants/apikeys/api-key.ts'
import { exchangeOperation } from './tenants/apikeys/exchange-operation.ts'
import { appConfig } from './tenants/appconfig/app-config.ts'
import { configOperations } from './tenants/appconfig/config-operations.ts'
import { recordOperations } from './tenants/appconfig/record-operations.ts'
import { application } from './tenants/applications/application.ts'
import { applicationOperations } from './tenants/applications/application-operations.ts'
import { auditOperations } from './tenants/audit/audit-operations.ts'
import { authOperations } from './tenants/auth/auth-operations.ts'
import { oidcProvider, providerOperations } from './tenants/auth/oidc/provider.ts'
import { assetOperations } from './tenants/cartography/maps/asset-operations.ts'
import { mapOperations } from './tenants/cartography/maps/map-operations.ts'
import { pictureOperations } from './tenants/cartography/pictures/picture-operations.ts'
import { placeOperations } from './tenants/cartography/places/place-operations.ts'
import { style, styleOperations } from './tenants/cartography/styles/style.ts'
import { contactPoint } from './tenants/contactpoints/contact-point.ts'
import { contactPointOperations } from './tenants/contactpoints/contact-point-operations.ts'
import { outboxOperations } from './tenants/mail/outbox-operations.ts'
import { usageOperations } from './tenants/usage/usage-operations.ts'
import { role, roleOperations } from './tenants/users/role.ts'
import { user } from './tenants/users/user.ts'
import { userOperations } from './tenants/users/user-operations.ts'

/** The resources that joins can name, by their title. */
export const resources: readonly Resource<Services>[] = [
  ...[application, apiKey, user, role, oidcProvider, style, database, dataset, savedQuery],
  ...[agent, contactPoint, tileSource, upload, appConfig],
]

export const operations: readonly Operation<Services>[] = [
  ...applicationOperations,
  ...apiKeyOperations,
  accessOperation,
  exchangeOperation,
  ...userOperations,
  ...roleOperations,
  ...authOperations,
  ...providerOperations,
  ...styleOperations,
  ...pictureOperations,
  ...mapOperations,
  ...placeOperations,
  ...assetOperations,
  ...consoleOperations,
  ...databaseOperations,
  ...withRefresh(makingTables(datasetOperations)),
  ...queryOperations,
  databaseQuery,
  tryRules,
  ...savedQueryOperations,
  ...changeOperations,
  ...editOperations,
  ...agentOperations,
  ...invokeOperations,
  ...workerOperations,
  ...historyOperations,
  ...contactPointOperations,
  ...webhookOperations(contactPoint),
  ...outboxOperations,
  ...tileDriverOperations,
  ...tileSourceOperations,
  ...basemapOperations,
  ...tileOperations,
  ...removalOperations,
  ...uploadOperations,
  ...configOperations,
  ...recordOperations,
  ...usageOperations,
  ...serverInfoOperations,
  ...metricsOperations,
  ...auditOperations,
  ...mcpOperations,
  ...apiDocsOperations,
  ...ogcOperations,
]

/** The operations of our own API. Those of `/ogc` have an API definition by their own standard, at `/ogc/api`. */
export const apiOperations: readonly Operation<Services>[] = operations.filter(({ id }) => !id.startsWith('ogc.'))
