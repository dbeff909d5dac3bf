import type { KeyCache } from './access/key-cache.ts'
import type { Secrets } from './access/secrets.ts'
import { apiDocsOperations } from './api-docs/api-docs.ts'
import { apiKeyOperations, apiKeys } from './apikeys/api-key.ts'
import { appConfigs } from './appconfig/app-config.ts'
import { configOperations } from './appconfig/config-operations.ts'
import { recordOperations } from './appconfig/record-operations.ts'
import { applications } from './applications/application.ts'
import type { Connections } from './databases/connection.ts'
import { databases } from './databases/database.ts'
import { databaseOperations } from './databases/database-operations.ts'
import { datasets } from './datasets/dataset.ts'
import { queryOperations } from './datasets/query-operations.ts'
import type { Sources } from './datasets/sources.ts'
import type { StreamSlots } from './datasets/stream-slots.ts'
import type { Db } from './db/db.ts'
import { openApi } from './http/openapi.ts'
import type { Operation } from './http/operation.ts'
import { crudOperations } from './resource/crud.ts'
import { metadataOperations } from './resource/metadata.ts'
import type { Resource } from './resource/resource.ts'
import { type ServerConfig, serverInfoOperations } from './server-info/server-info.ts'
import { styles } from './styles/style.ts'
import type { StyleCheck } from './styles/style-check.ts'

export type Parts = {
  db: Db
  secrets: Secrets
  keys: KeyCache
  styleCheck: StyleCheck
  connections: Connections
  sources: Sources
  slots: StreamSlots
  about: ServerConfig
  isStopping: () => boolean
}

/** The table of contents: every operation there is. Areas meet here and nowhere else. */
export function allOperations(parts: Parts): Operation[] {
  const { db, secrets, keys, styleCheck, connections, sources, slots, about, isStopping } = parts
  const standard = (resource: Resource): Operation[] => [
    ...crudOperations({ db, resource }),
    ...metadataOperations({ db, resource }),
  ]
  const ownApplication = () => application
  const database = databases(ownApplication, secrets)
  const application = applications(() => database)
  const dataset = datasets({ applications: ownApplication, databases: () => database }, sources, secrets)
  const appConfig = appConfigs(ownApplication)
  const operations = [
    ...standard(application),
    ...apiKeyOperations(db, apiKeys(db, secrets, ownApplication), keys),
    ...standard(styles(ownApplication, styleCheck)),
    ...databaseOperations(db, database, connections),
    ...standard(database),
    ...standard(dataset),
    ...queryOperations({ db, resource: dataset, sources, slots }),
    ...configOperations(db, appConfig, { svc: about }),
    ...recordOperations(db, appConfig),
    ...serverInfoOperations(db, about, isStopping),
  ]
  const docs: Operation[] = apiDocsOperations(() => openApi([...operations, ...docs], about.version.tag))
  return [...operations, ...docs]
}
