/** The services of all handlers. Each area declares its own part, and sees no other. */

import type { McpServices } from './agents/mcp/mcp-operations.ts'
import type { AgentServices } from './agents/services.ts'
import type { ApiDocsServices } from './api/api-docs/api-docs.ts'
import type { ConsoleServices } from './api/console/console-operations.ts'
import type { MetricsServices } from './api/metrics/metrics-operations.ts'
import type { BaseServices } from './api/resource/resource.ts'
import type { ServerInfoServices } from './api/server-info/server-info.ts'
import type { ChangeServices } from './data/changes/change-operations.ts'
import type { DatabaseServices } from './data/databases/services.ts'
import type { DatasetServices } from './data/datasets/dataset.ts'
import type { QueryServices } from './data/datasets/queries/query-services.ts'
import type { EditServices } from './data/editing/editing.ts'
import type { OgcServices } from './data/ogc/ogc-services.ts'
import type { TileServices } from './data/tiles/http/tile-services.ts'
import type { TileSourceServices } from './data/tiles/source/tile-source.ts'
import type { UploadServices } from './data/uploads/http/upload-operations.ts'
import type { RemovalServices } from './data/uploads/publish/removals.ts'
import type { ApiKeyServices } from './tenants/apikeys/api-key.ts'
import type { ExchangeServices } from './tenants/apikeys/exchange-operation.ts'
import type { AppConfigServices } from './tenants/appconfig/config-operations.ts'
import type { ApplicationServices } from './tenants/applications/application.ts'
import type { AuditServices } from './tenants/audit/audit-operations.ts'
import type { AuthServices } from './tenants/auth/services.ts'
import type { AssetServices } from './tenants/cartography/maps/asset-operations.ts'
import type { MapServices } from './tenants/cartography/maps/map-operations.ts'
import type { PlaceServices } from './tenants/cartography/places/place-operations.ts'
import type { StyleServices } from './tenants/cartography/styles/style.ts'
import type { ContactPointServices } from './tenants/contactpoints/contact-point-operations.ts'
import type { OutboxServices } from './tenants/mail/outbox-operations.ts'
import type { UsageServices } from './tenants/usage/usage-operations.ts'
import type { UserServices } from './tenants/users/user-operations.ts'

export type Services = BaseServices &
  ApplicationServices &
  ApiKeyServices &
  ExchangeServices &
  UserServices &
  AuthServices &
  StyleServices &
  MapServices &
  PlaceServices &
  AssetServices &
  ConsoleServices &
  DatabaseServices &
  DatasetServices &
  QueryServices &
  ChangeServices &
  EditServices &
  AgentServices &
  ContactPointServices &
  OutboxServices &
  TileSourceServices &
  TileServices &
  UploadServices &
  RemovalServices &
  UsageServices &
  AppConfigServices &
  ServerInfoServices &
  MetricsServices &
  AuditServices &
  McpServices &
  ApiDocsServices &
  OgcServices
