/** The services of all handlers. Each area declares its own part, and sees no other. */
import type { AgentServices } from './agents/services.ts'
import type { ApiDocsServices } from './api-docs/api-docs.ts'
import type { ApiKeyServices } from './apikeys/api-key.ts'
import type { ExchangeServices } from './apikeys/exchange-operation.ts'
import type { AppConfigServices } from './appconfig/config-operations.ts'
import type { ApplicationServices } from './applications/application.ts'
import type { AuditServices } from './audit/audit-operations.ts'
import type { AuthServices } from './auth/services.ts'
import type { ChangeServices } from './changes/change-operations.ts'
import type { ConsoleServices } from './console/console-operations.ts'
import type { ContactPointServices } from './contactpoints/contact-point-operations.ts'
import type { DatabaseServices } from './databases/services.ts'
import type { DatasetServices } from './datasets/dataset.ts'
import type { QueryServices } from './datasets/query-services.ts'
import type { EditServices } from './editing/editing.ts'
import type { OutboxServices } from './mail/outbox-operations.ts'
import type { AssetServices } from './maps/asset-operations.ts'
import type { MapServices } from './maps/map-operations.ts'
import type { McpServices } from './mcp/mcp-operations.ts'
import type { MetricsServices } from './metrics/metrics-operations.ts'
import type { OgcServices } from './ogc/ogc-services.ts'
import type { BaseServices } from './resource/resource.ts'
import type { ServerInfoServices } from './server-info/server-info.ts'
import type { StyleServices } from './styles/style.ts'
import type { TileServices } from './tiles/tile-services.ts'
import type { TileSourceServices } from './tiles/tile-source.ts'
import type { RemovalServices } from './uploads/removals.ts'
import type { UploadServices } from './uploads/upload-operations.ts'
import type { UsageServices } from './usage/usage-operations.ts'
import type { UserServices } from './users/user-operations.ts'

export type Services = BaseServices &
  ApplicationServices &
  ApiKeyServices &
  ExchangeServices &
  UserServices &
  AuthServices &
  StyleServices &
  MapServices &
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
