import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { guardedAuth, visibleMetadata } from '../../api/access/secrets/auth-metadata.ts'
import { demandPowerOfUsers } from '../../api/access/secrets/token-power.ts'
import { type MetadataGuard, withGuardedMetadata } from '../../api/resource/documents/guarded-metadata.ts'
import type { Removal } from '../../api/resource/removal.ts'
import { type BaseServices, defineResource, field } from '../../api/resource/resource.ts'
import type { Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { applicationLimitNames, limits } from '../../kernel/limits/limits.ts'
import { type FileStore, filesPrefix, removeNowOrLater, uploadKey } from '../../kernel/storage/file-store.ts'

export type ApplicationServices = BaseServices & {
  /** DATA_DIR */
  readonly dataDirectory: string
  readonly files: FileStore
  readonly keys: { forgetApplication(applicationId: string): void }
  readonly bearers: { forget(whose: { applicationId: string }): void }
  /** Makes the API keys that an application begins with. */
  addFirstKeys(tx: Queryable, applicationId: string): Promise<{ developer: string; public: string }>
}

/** `auth` is protected, because its redirects decide where the links in mails lead. */
export const guardMetadata: MetadataGuard<BaseServices> = async (change, scope, { db }) => {
  const metadata = await guardedAuth(db, change, scope)
  const isChanged = !isDeepStrictEqual(change.before.auth, metadata.auth)
  if (isChanged && !change.isNew) await demandPowerOfUsers(db, scope, change.applicationId)
  return metadata
}

const limitsSchema = Type.Object(
  Object.fromEntries(
    applicationLimitNames.map((name) => [
      name,
      Type.Optional(Type.Integer({ minimum: 1, description: limits[name].what })),
    ]),
  ),
  {
    additionalProperties: false,
    description: 'Limits that differ from those of the installation; only a master key changes them',
  },
)

const basemapSchema = Type.Union(
  [Type.Null(), Type.String({ pattern: '^(https?|pmtiles)://[^\\s]+$', maxLength: 2_000 })],
  {
    description: 'The streets of its base map, as BASEMAP_URL names those of the installation; null: those',
  },
)

/** The resource of applications, the tenants. Deleting one deletes everything it owns: the foreign keys cascade. */
export const application = defineResource<ApplicationServices>({
  name: 'applications',
  title: 'Application',
  acl: 'applications',
  tenantColumn: 'id',
  masterVerbs: ['create', 'replace', 'patch', 'delete'],
  example: { name: 'Harbour', description: 'Ships and berths', contact: 'harbour@example.org' },
  joins: { databases: { many: 'Database', foreignColumn: 'application_id' } },
  view: async (scope, { db }) => ({ columns: { metadata: await visibleMetadata(db, 'applications', scope) } }),
  prepare(draft, scope, services) {
    // A new application has no key yet that its metadata could name.
    const applicationId = draft.previous ? draft.applicationId : ''
    return withGuardedMetadata({ ...draft, applicationId }, (change) => guardMetadata(change, scope, services))
  },
  fields: {
    limits: field('json', limitsSchema, { default: {}, queryable: false, isKeptOnReplace: true }),
    name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    basemap: field('string', basemapSchema, { default: null, isKeptOnReplace: true }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKeptOnReplace: true }),
    contact: field('string', Type.String({ maxLength: 320, description: 'Contact e-mail address' }), {
      default: '',
      isKeptOnReplace: true,
    }),
  },
})

/** Also deletes its tile archives and waiting uploads. Its tables are dropped with its schema. */
export const applicationRemoval: Removal<ApplicationServices> = {
  prepare:
    async ({ entity: { id } }, { dataDirectory, files }) =>
    async (tx) => {
      const uploads = await tx.query<{ id: string; isWaiting: boolean }>(sql`
        SELECT id, status IN ('pending', 'processing') AS "isWaiting" FROM svc.uploads
        WHERE application_id = ${String(id)}::uuid`)
      return async () => {
        await removeNowOrLater(files, filesPrefix(String(id)))
        for (const upload of uploads) if (upload.isWaiting) await removeNowOrLater(files, uploadKey(upload.id))
        // What is on this machine alone: files for DuckDB, and uploads that arrived here.
        const folders = [join('files', String(id)), ...uploads.map((upload) => join('uploads', upload.id))]
        for (const folder of folders) await rm(join(dataDirectory, folder), { recursive: true, force: true })
      }
    },
}
