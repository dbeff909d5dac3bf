// The ACLs of the two keys that every application is made with. The console imports this file as it is.
import { grantEqually, type Permissions } from './grants.ts'

/** All classes, levels and resources. */
export const developerPermissions: Permissions = { '*': { '*': '*' } }

const readAndExecute = { read: '*', execute: '*' } as const

/**
 * What a page needs to show data and maps, and to serve the user who signed in there (log-out, own password, `users/me`). The key is
 * public, so nothing else: what a page should also do, such as asking an agent or sending a form, is granted by id.
 */
export const publicPermissions: Permissions = {
  appconfig: { execute: '*' },
  auth: { execute: '*' },
  datasets: readAndExecute,
  styles: readAndExecute,
  tiles: readAndExecute,
}

/** Of public keys made by earlier versions: also all users, contact points, agents, databases, uploads and keys. */
const formerPublicPermissions: Permissions = { '*': readAndExecute }

/** Whether these are the permissions of an earlier public key: equal in what they grant, however written. */
export const isFormerPublic = (permissions: Permissions): boolean => grantEqually(permissions, formerPublicPermissions)
