/**
 * The words for entries of the audit log. Actions are infinitives ("Delete dataset"), because an entry may also be of an
 * attempt that was refused.
 */
import type { AuditEntry } from '@graticule/client'
import { type ActionGroup, type ActivitySpan, type ActorType, firstRefusal } from './activity-search.ts'

export const spanLabels: Readonly<Record<ActivitySpan, string>> = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
}

export const groupLabels: Readonly<Record<ActionGroup, string>> = {
  create: 'Create',
  change: 'Change',
  delete: 'Delete',
  account: 'Sign in and accounts',
}

/** For choosing them. */
export const actorLabels: Readonly<Record<ActorType, string>> = {
  key: 'API keys',
  user: 'Users who signed in',
  master: 'Master keys',
  anonymous: 'Nobody signed in',
  command: 'Command line',
  system: 'The server itself',
}

/** What records of a kind are called: one, and many. */
export const kindWords: Readonly<Record<string, readonly [one: string, many: string]>> = {
  datasets: ['dataset', 'Datasets'],
  styles: ['map', 'Maps'],
  tilesources: ['tile source', 'Tile sources'],
  uploads: ['upload', 'Uploads'],
  databases: ['database', 'Databases'],
  agents: ['agent', 'Agents'],
  contactpoints: ['contact point', 'Contact points'],
  apikeys: ['API key', 'API keys'],
  users: ['user', 'Users'],
  roles: ['role', 'Roles'],
  oidcproviders: ['sign-in provider', 'Sign-in providers'],
  applications: ['application', 'Applications'],
  appconfig: ['configuration', 'Configuration'],
  auth: ['session', 'Sessions'],
  outbox: ['mail', 'Outbox'],
  server: ['server', 'Server'],
  console: ['console', 'Console'],
}

/** Of actions that their verb alone does not explain. */
const whole: Readonly<Record<string, string>> = {
  'apikeys.list': 'Show API keys',
  'auth.changepassword': 'Change password',
  'auth.confirmsignup': 'Confirm e-mail address',
  'auth.confirmsignup.path': 'Confirm e-mail address',
  'auth.exchange': 'Use sign-in link',
  'auth.login': 'Sign in',
  'auth.logout': 'Sign out',
  'auth.requestpasswordreset': 'Ask for a new password',
  'auth.resetpassword': 'Set a new password',
  'auth.signup': 'Sign up',
  'agents.cancel': 'Cancel invocation',
  'console.link': 'Make sign-in link',
  'contactpoints.send': 'Send message',
  'databases.publish': 'Publish tables',
  'databases.test': 'Test connection',
  'outbox.get': 'Read mail',
  'outbox.list': 'List mails',
  'server.rotateTokenKey': 'Replace the key of tokens',
  'uploads.complete': 'Finish upload',
  'uploads.create': 'Upload file',
  'uploads.fail': 'Give up upload',
}

const verbs: Readonly<Record<string, string>> = {
  create: 'Create',
  patch: 'Change',
  replace: 'Change',
  merge: 'Change',
  set: 'Change',
  setKey: 'Change',
  deleteKey: 'Change',
  delete: 'Delete',
}

/** `styles.patch`: "Change map". Operations that are not known here read like their ids: "Rotate token of vault". */
export function actionWords(action: string): string {
  const sentence = whole[action]
  if (sentence) return sentence
  const [kind = '', ...rest] = action.split('.')
  const verb = rest.pop() ?? ''
  const within = rest.filter((part) => part !== 'key' && part !== 'record')
  const noun = kindWords[kind]?.[0] ?? kind
  return `${verbs[verb] ?? capital(spaced(verb))} ${[...within.map(spaced), noun].join(' of ')}`.trim()
}

const spaced = (name: string): string => name.replaceAll(/(?=[A-Z])/g, ' ').toLowerCase()

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export interface Outcome {
  kind: 'ok' | 'warn' | 'danger'
  label: string
}

const refusals: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'refused',
  404: 'not found',
  409: 'conflict',
  412: 'conflict',
  413: 'over a limit',
  422: 'invalid',
  429: 'over a limit',
}

export function outcomeOf({ status }: Pick<AuditEntry, 'status'>): Outcome {
  if (status < firstRefusal) return { kind: 'ok', label: 'done' }
  if (status >= 500) return { kind: 'danger', label: `failed, ${status}` }
  return { kind: 'warn', label: `${refusals[status] ?? 'refused'}, ${status}` }
}
