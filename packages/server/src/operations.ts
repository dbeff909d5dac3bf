/** The table of contents: every operation and every resource. Areas meet here and in `services.ts`. */
import { agent } from './agents/agent.ts'
import { agentOperations } from './agents/agent-operations.ts'
import { historyOperations } from './agents/history-operations.ts'
import { invokeOperations } from './agents/invoke-operations.ts'
import { workerOperations } from './agents/worker-operations.ts'
import { apiDocsOperations } from './api-docs/api-docs.ts'
import { accessOperation } from './apikeys/access-operation.ts'
import { apiKey, apiKeyOperations } from './apikeys/api-key.ts'
import { exchangeOperation } from './apikeys/exchange-operation.ts'
import { appConfig } from './appconfig/app-config.ts'
import { configOperations } from './appconfig/config-operations.ts'
import { recordOperations } from './appconfig/record-operations.ts'
import { application } from './applications/application.ts'
import { applicationOperations } from './applications/application-operations.ts'
import { auditOperations } from './audit/audit-operations.ts'
import { authOperations } from './auth/auth-operations.ts'
import { bindingOperations } from './bindings/binding-operations.ts'
import { changeOperations } from './changes/change-operations.ts'
import { consoleOperations } from './console/console-operations.ts'
import { contactPoint } from './contactpoints/contact-point.ts'
import { contactPointOperations } from './contactpoints/contact-point-operations.ts'
import { database } from './databases/database.ts'
import { databaseOperations } from './databases/database-operations.ts'
import { dataset, datasetOperations } from './datasets/dataset.ts'
import { queryOperations } from './datasets/query-operations.ts'
import { makingTables } from './editing/create-dataset.ts'
import { editOperations } from './editing/edit-operations.ts'
import type { Operation } from './http/operation.ts'
import { outboxOperations } from './mail/outbox-operations.ts'
import { assetOperations } from './maps/asset-operations.ts'
import { mapOperations } from './maps/map-operations.ts'
import { mcpOperations } from './mcp/mcp-operations.ts'
import { metricsOperations } from './metrics/metrics-operations.ts'
import { ogcOperations } from './ogc/ogc-operations.ts'
import type { Resource } from './resource/resource.ts'
import { serverInfoOperations } from './server-info/server-info.ts'
import type { Services } from './services.ts'
import { style, styleOperations } from './styles/style.ts'
import { basemapOperations } from './tiles/basemap-operations.ts'
import { tileDriverOperations } from './tiles/tile-drivers.ts'
import { tileOperations } from './tiles/tile-operations.ts'
import { tileSource, tileSourceOperations } from './tiles/tile-source.ts'
import { removalOperations } from './uploads/removals.ts'
import { upload } from './uploads/upload.ts'
import { uploadOperations } from './uploads/upload-operations.ts'
import { usageOperations } from './usage/usage-operations.ts'
import { user } from './users/user.ts'
import { userOperations } from './users/user-operations.ts'

/** The resources that joins can name, by their title. */
export const resources: readonly Resource<Services>[] = [
  ...[application, apiKey, user, style, database, dataset],
  ...[agent, contactPoint, tileSource, upload, appConfig],
]

export const operations: readonly Operation<Services>[] = [
  ...applicationOperations,
  ...apiKeyOperations,
  accessOperation,
  exchangeOperation,
  ...userOperations,
  ...authOperations,
  ...styleOperations,
  ...mapOperations,
  ...assetOperations,
  ...consoleOperations,
  ...databaseOperations,
  ...makingTables(datasetOperations),
  ...queryOperations,
  ...changeOperations,
  ...editOperations,
  ...agentOperations,
  ...invokeOperations,
  ...workerOperations,
  ...historyOperations,
  ...contactPointOperations,
  ...bindingOperations,
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
export const ownOperations: readonly Operation<Services>[] = operations.filter(({ id }) => !id.startsWith('ogc.'))
