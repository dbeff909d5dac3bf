/**
 * Error messages of the database for the author of a query. PostgreSQL's own messages differ for objects that do not exist
 * and for those of others, and may name files of the server; these do not.
 */
export function publicDatabaseMessage({
  message,
  code,
}: {
  readonly message: string
  readonly code?: unknown
}): string {
  const words = message.split('\n', 1)[0] ?? ''
  const table = tableIn(words, code)
  if (table !== undefined) return `The table "${table}" does not exist, or this application may not read it.`
  if (isAboutExistence(words, code)) return unknownName
  return words.replace(serverPath, '…')
}

export const unknownName =
  'The query names a table, schema, function, type or role that does not exist or that this application may not use.'

const deniedRelation =
  /^permission denied for (?:table|view|materialized view|foreign table|relation|sequence) ([^".]+)$/
const absentRelation = /^relation "([^".]+)" does not exist$/

/** Only names without a schema: of a name with one, the database may say either part, depending on what there is. */
function tableIn(message: string, code: unknown): string | undefined {
  if (code === '42501') return deniedRelation.exec(message)?.[1]
  return code === '42P01' ? absentRelation.exec(message)?.[1] : undefined
}

function isAboutExistence(message: string, code: unknown): boolean {
  if (code === '42501' || code === '3F000') return true
  // A qualified name, a role, or something that only its number is known of.
  if (code === '42P01') return /^relation ".*\..*" does not exist/.test(message)
  return code === '42704' && /^role |^[a-z ]+ "[^"]*\..*"|^[a-z ]+ with OID /.test(message)
}

/** Directories that a server keeps its programs and data in. */
const serverPath =
  /(?<![\w/])\/(?:bin|data|etc|home|lib|lib64|mnt|opt|pglite|proc|root|run|srv|tmp|usr|var)\/[^\s"',;:)]*/g
