import type { Permissions } from './access/acl.ts'
import type { Secrets } from './access/secrets.ts'
import { rotateTokenKey } from './access/token-keys.ts'
import { readPermissions } from './apikeys/permissions.ts'
import type { Db } from './db/db.ts'
import { raw, sql } from './db/sql.ts'
import { StartError } from './errors.ts'
import { addKey, developerPermissions, listKeys, publicPermissions } from './first-start.ts'

const names = ['keys', 'create-key', 'rotate-token-key'] as const

export type Command = {
  command: (typeof names)[number]
  application?: string
  type?: string
  permissions?: string
  description?: string
}

const lostKeyHint = 'Master keys are not listed. A new one: npm start -- create-key --type master'

export const isCommand = (name: string): name is Command['command'] => (names as readonly string[]).includes(name)

/** The text to show. */
export async function runCommand(db: Db, secrets: Secrets, command: Command): Promise<string> {
  if (command.command === 'create-key') return createKey(db, secrets, command)
  if (command.command === 'rotate-token-key')
    return `Access tokens are signed with ${await rotateTokenKey(db, secrets)} now.`
  const keys = await listKeys(db, secrets, command.application)
  if (keys.length === 0)
    throw new StartError('There is no such application, or it has no keys. Give the name or the id of an application.')
  return [...keys, '', lostKeyHint].join('\n')
}

async function createKey(db: Db, secrets: Secrets, command: Command): Promise<string> {
  const { application, type = 'app', permissions = 'developer', description = 'Made on the command line' } = command
  if (type !== 'app' && type !== 'master') throw new StartError('--type must be app or master.')
  const wanted = application ? sql`name = ${application} OR id::text = ${application}` : raw('is_default')
  const found = await db.query(sql`SELECT id FROM svc.applications WHERE ${wanted}`)
  const [only] = found
  if (!only || found.length > 1) {
    throw new StartError(`${found.length} applications are called "${application}". Give the id of one.`)
  }
  return addKey(db, secrets, String(only.id), type, permissionsOf(permissions), description)
}

function permissionsOf(text: string): Permissions {
  if (text === 'developer') return developerPermissions
  if (text === 'public') return publicPermissions
  try {
    return readPermissions(JSON.parse(text))
  } catch (error) {
    throw new StartError(`--permissions: ${(error as Error).message}`)
  }
}
