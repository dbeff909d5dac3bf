import type { FastifyRequest } from 'fastify'
import type { KeyCache } from './access/key-cache.ts'
import type { Secrets } from './access/secrets.ts'
import { apiDocsOperations } from './api-docs/api-docs.ts'
import { apiKeyOperations, apiKeys } from './apikeys/api-key.ts'
import { appConfigs } from './appconfig/app-config.ts'
import { configOperations } from './appconfig/config-operations.ts'
import { recordOperations } from './appconfig/record-operations.ts'
import { applications } from './applications/application.ts'
import { authOperations } from './auth/auth-operations.ts'
import type { AuthParts } from './auth/parts.ts'
import { contactPoints } from './contactpoints/contact-point.ts'
import { contactPointOperations } from './contactpoints/contact-point-operations.ts'
import type { Deliveries } from './contactpoints/deliveries.ts'
import type { Connections } from './databases/connection.ts'
import { databases } from './databases/database.ts'
import { databaseOperations } from './databases/database-operations.ts'
import { datasets } from './datasets/dataset.ts'
import { queryOperations } from './datasets/query-operations.ts'
import type { Sources } from './datasets/sources.ts'
import type { StreamSlots } from './datasets/stream-slots.ts'
import type { Db } from './db/db.ts'
import { afterWrites } from './http/after-writes.ts'
import { openApi } from './http/openapi.ts'
import type { Operation } from './http/operation.ts'
import type { Mailer } from './mail/mailer.ts'
import { outboxOperations } from './mail/outbox-operations.ts'
import { assetOperations } from './maps/asset-operations.ts'
import type { Fonts } from './maps/fonts.ts'
import { mapOperations } from './maps/map-operations.ts'
import type { Sprites } from './maps/sprites.ts'
import { crudOperations } from './resource/crud.ts'
import { metadataOperations } from './resource/metadata.ts'
import type { Resource } from './resource/resource.ts'
import { outputSchema } from './resource/schemas.ts'
import { type ServerConfig, serverInfoOperations } from './server-info/server-info.ts'
import { styles } from './styles/style.ts'
import type { StyleCheck } from './styles/style-check.ts'
import { basemapOperations } from './tiles/basemap-operations.ts'
import type { TileBudget } from './tiles/dataset-tiles.ts'
import { createKnownSources } from './tiles/known-sources.ts'
import { createServedTiles } from './tiles/served-tiles.ts'
import { tileDriverOperations } from './tiles/tile-drivers.ts'
import { tileOperations } from './tiles/tile-operations.ts'
import { tileSources } from './tiles/tile-source.ts'
import type { Tiling } from './tiling.ts'
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
  mailer: Mailer
  deliveries: Deliveries
  about: ServerConfig
  isStopping: () => boolean
  tiling: Tiling
  budget: TileBudget
  baseUrl(request: FastifyRequest): string
  fonts: Fonts
  sprites: Sprites
}

/** The table of contents: every operation there is. Areas meet here and nowhere else. */
export function allOperations(parts: Parts): Operation[] {
  const { db, secrets, keys, bearers, passwords, styleCheck, connections, sources, slots, about, isStopping } = parts
  // To describe operations nothing needs to be there.
  const { tiling = {} as Tiling, budget, baseUrl, fonts, sprites } = parts
  const standard = (resource: Resource): Operation[] => [
    ...crudOperations({ db, resource }),
    ...metadataOperations({ db, resource }),
  ]
  const ownApplication = () => application
  const database = databases(ownApplication, secrets)
  const application = applications(db, () => database)
  const user = users({ db, secrets, passwords, applications: ownApplication })
  const dataset = datasets(
    { applications: ownApplication, databases: () => database, users: () => user },
    sources,
    secrets,
  )
  const contactPoint = contactPoints(db, secrets, ownApplication)
  const appConfig = appConfigs(ownApplication)
  const style = styles(ownApplication, styleCheck)
  const tileSource = tileSources(ownApplication, tiling.detect)
  const { data, archives, archiveInfo, detect, workers, cache } = tiling
  const known = createKnownSources({
    db,
    tileSources: tileSource,
    datasets: dataset,
    data,
    archives: archiveInfo,
    detect,
  })
  const served = createServedTiles({ data, workers, budget, archives, cache })
  const operations = [
    ...afterWrites(standard(application), (id) => bearers.forget({ applicationId: id.toLowerCase() })),
    ...apiKeyOperations(db, apiKeys(db, secrets, { applications: ownApplication, users: () => user }), keys),
    ...userOperations(db, user, { keys, bearers }),
    ...authOperations(parts, outputSchema(user)),
    ...standard(style),
    ...mapOperations({ db, styles: style, baseUrl }),
    ...assetOperations({ fonts, sprites }),
    ...databaseOperations(db, database, connections),
    ...standard(database),
    ...standard(dataset),
    ...queryOperations({ db, resource: dataset, sources, slots }),
    ...contactPointOperations(db, contactPoint, parts.deliveries),
    ...standard(contactPoint),
    ...outboxOperations(db, parts.mailer),
    ...tileDriverOperations(),
    ...standard(tileSource),
    ...basemapOperations({ archiveInfo, served, baseUrl }),
    ...tileOperations({ data, workers, budget, known, served, baseUrl }),
    ...configOperations(db, appConfig, { svc: about }),
    ...recordOperations(db, appConfig),
    ...serverInfoOperations(db, about, isStopping),
  ]
  const docs: Operation[] = apiDocsOperations(() => openApi([...operations, ...docs], about.version.tag))
  return [...operations, ...docs]
}
