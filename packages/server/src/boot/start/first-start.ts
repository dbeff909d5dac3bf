import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyType } from '../../api/access/acl.ts'
import { developerPermissions, publicPermissions } from '../../api/access/first-permissions.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { createSecrets, type Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { json, raw, sql } from '../../kernel/db/sql.ts'
import { StartError } from '../../kernel/errors.ts'
import { openKey, sealKey } from '../../tenants/apikeys/sealed-key.ts'

/** The secret from the environment, or the one kept beside the data; the database remembers whether it is the right one. */
export async function loadSecrets(db: Db, dataDirectory: string, secretKey: string | undefined): Promise<Secrets> {
  const secrets = createSecrets(secretKey ?? (await secretFromFile(dataDirectory)))
  const [kept] = await db.query(sql`
    INSERT INTO svc.settings (name, value) VALUES ('secret_fingerprint', ${secrets.fingerprint})
    ON CONFLICT (name) DO UPDATE SET value = settings.value RETURNING value`)
  if (kept?.value !== secrets.fingerprint) {
    const source = secretKey ? 'SECRET_KEY' : `the file ${join(dataDirectory, 'secret.key')}`
    throw new StartError(
      `${source} is not the secret that this database was set up with. All replicas need the same one.`,
    )
  }
  return secrets
}

async function secretFromFile(dataDirectory: string): Promise<string> {
  const file = join(dataDirectory, 'secret.key')
  await mkdir(dataDirectory, { recursive: true })
  try {
    // `wx`: of two processes that start together, one makes the file and both read it.
    await writeFile(file, randomBytes(48).toString('base64url'), { flag: 'wx', mode: 0o600 })
    await chmod(file, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return (await readFile(file, 'utf8')).trim()
}

/** The initial content of an installation, besides an application and its keys. */
export type InitialContent = {
  /** Every time: the initial content of each new application. */
  install?(tx: Queryable): Promise<void>
  /** Once: the sample data. */
  fill?(tx: Queryable, applicationId: string): Promise<void>
}

/** Makes the default application and its keys once, however many replicas start. Returns a master key made here. */
export async function setUp(
  db: Db,
  secrets: Secrets,
  masterKey: string | undefined,
  beginning: InitialContent = {},
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('svc.set_up'))`)
    await beginning.install?.(tx)
    const applicationId = await defaultApplication(tx, secrets, beginning)
    const key = masterKey?.toLowerCase()
    if (key) {
      await addKey(tx, secrets, applicationId, 'master', developerPermissions, 'Master key of the settings', key)
      return undefined
    }
    const [row] = await tx.query(sql`SELECT FROM svc.apikeys WHERE type = 'master' LIMIT 1`)
    return row ? undefined : addKey(tx, secrets, applicationId, 'master', developerPermissions, 'Master key')
  })
}

async function defaultApplication(tx: Queryable, secrets: Secrets, { fill }: InitialContent): Promise<string> {
  const [row] = await tx.query(sql`SELECT id FROM svc.applications WHERE is_default`)
  if (row) return String(row.id)
  const id = randomUUID()
  await tx.query(sql`
    INSERT INTO svc.applications (id, name, description, contact, is_default)
    VALUES (${id}, 'default', 'The application of this installation', '', true)`)
  await addFirstKeys(tx, secrets, id)
  await fill?.(tx, id)
  return id
}

/** The two keys that every application begins with. */
export async function addFirstKeys(
  tx: Queryable,
  secrets: Secrets,
  applicationId: string,
): Promise<{ developer: string; public: string }> {
  const add = (permissions: Permissions, description: string): Promise<string> =>
    addKey(tx, secrets, applicationId, 'app', permissions, description)
  return {
    developer: await add(developerPermissions, 'Developer key: everything in this application'),
    public: await add(publicPermissions, 'Public key: reads and queries data and shows maps, for web pages'),
  }
}

/** Adds a key unless it is there. */
export async function addKey(
  db: Queryable,
  secrets: Secrets,
  applicationId: string,
  type: KeyType,
  permissions: Permissions,
  description: string,
  id: string = randomUUID(),
): Promise<string> {
  const { hash, secret } = sealKey(secrets, id)
  await db.query(sql`
    INSERT INTO svc.apikeys (hash, secret, application_id, type, permissions, description)
    VALUES (${hash}, ${secret}, ${applicationId}, ${type}, ${json(permissions)}, ${description})
    ON CONFLICT DO NOTHING`)
  return id
}

/** The keys of an application by name or id (of all when none is said, the default one first), master keys excepted. */
export async function listKeys(db: Db, secrets: Secrets, application?: string): Promise<string[]> {
  const wanted = application ? sql`a.name = ${application} OR a.id::text = ${application}` : raw('TRUE')
  const rows = await db.query(sql`
    SELECT k.hash, k.secret, k.description, a.name FROM svc.apikeys k JOIN svc.applications a ON a.id = k.application_id
    WHERE (${wanted}) AND k.type <> 'master' ORDER BY a.is_default DESC, a.name, k.created_at, k.hash`)
  return rows.map((row) => `${openKey(secrets, row)}  ${row.name}: ${row.description}`)
}
