import { Readable } from 'node:stream'
import Type, { type Static } from 'typebox'
import type { Scope } from '../../api/access/acl.ts'
import { downloadOf } from '../../api/http/answers/download-headers.ts'
import type { AuditLog } from '../../api/http/audit-log.ts'
import { linkHeader } from '../../api/http/link-header.ts'
import { type Answer, type Operation, operationUsing } from '../../api/http/operation.ts'
import { listSchema, readListQuery } from '../../api/resource/list-query.ts'
import { cursorUrl } from '../../api/resource/page-links.ts'
import { type Entity, isShown } from '../../api/resource/resource.ts'
import { outputSchema } from '../../api/resource/schemas.ts'
import type { Db } from '../../kernel/db/db.ts'
import { csvFormat } from '../../query/formats/csv.ts'
import { auditEntry } from './audit-entry.ts'
import { type AuditPage, type AuditQuery, readAudit, readCursor, shownTo, writeCursor } from './read-audit.ts'

export type AuditServices = { readonly db: Db; readonly audit: AuditLog }

const { fields, filter, limit } = listSchema.properties

const querySchema = Type.Object({
  fields,
  filter,
  limit,
  sort: Type.Optional(Type.Enum(['at', '-at'], { description: '`-at`, the newest first, unless given' })),
  cursor: Type.Optional(Type.String({ maxLength: 100, description: 'Of the Link to the next page' })),
  format: Type.Optional(
    Type.Enum(['json', 'ndjson', 'csv'], {
      description:
        '`ndjson` (an object in each line) and `csv` stream all that the filter lets through, unless `limit` is given',
    }),
  ),
})

/** Entries of an export that are read at a time; between them it holds neither a connection nor a transaction. */
const exportPage = 1_000

const list = operationUsing<AuditServices>()({
  id: 'audit.list',
  method: 'GET',
  path: auditEntry.path,
  summary: 'List the audit log: who did what, when and from where',
  description:
    'Of the application of the key, which needs write access to that application; a master key reads all, or those of ' +
    'the application in `x-application-id`. The Link header leads to the next page.',
  access: {
    class: 'applications',
    level: 'write',
    id: (_, caller) => (caller.everyApplication ? undefined : caller.applicationId),
  },
  query: querySchema,
  success: {
    status: 200,
    description: 'A page of entries',
    schema: Type.Array(outputSchema(auditEntry)),
    fileTypes: ['application/x-ndjson', 'text/csv'],
    headers: ['Link'],
  },
  async handle({ request, scope, signal, services: { db, audit } }, { query }) {
    const { format = 'json' } = query
    const wanted = readQuery(query, scope)
    await audit.flush()
    if (format !== 'json') return exported(db, scope, wanted, { format, signal })
    const { entries, next } = await readAudit(db, scope, wanted)
    return {
      headers: linkHeader(next ? [{ rel: 'next', href: cursorUrl(request.url, writeCursor(next)) }] : []),
      body: entries,
    }
  },
})

export const auditOperations: readonly Operation<AuditServices>[] = [list]

function readQuery(query: Static<typeof querySchema>, scope: Scope): AuditQuery {
  const read = readListQuery(auditEntry, { ...query, sort: ['at'] }, shownTo(scope))
  const isWhole = query.limit === undefined && query.format !== undefined && query.format !== 'json'
  return {
    fields: read.fields,
    where: read.where,
    isAscending: query.sort === 'at',
    limit: isWhole ? Number.POSITIVE_INFINITY : read.limit,
    after: readCursor(query.cursor),
  }
}

type Export = { readonly format: 'ndjson' | 'csv'; readonly signal: AbortSignal }

/** A failure on the first page is an ordinary error; a later one breaks the connection. */
async function exported(db: Db, scope: Scope, query: AuditQuery, { format, signal }: Export): Promise<Answer> {
  const first = await readAudit(db, scope, { ...query, limit: Math.min(query.limit, exportPage) })
  const { type, begin, line } = format === 'csv' ? csvLines(query.fields) : jsonLines
  async function* pieces(): AsyncGenerator<string> {
    if (begin) yield begin
    for await (const { entries } of pagesFrom(db, scope, query, first)) {
      signal.throwIfAborted()
      if (entries.length > 0) yield entries.map(line).join('')
    }
  }
  const body = Readable.from(pieces(), { objectMode: false, highWaterMark: 65_536 })
  // A reader that takes nothing would keep the generator from looking at the signal.
  const stop = () => body.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  return { headers: { 'content-type': type, ...downloadOf(`audit.${format}`) }, body }
}

async function* pagesFrom(db: Db, scope: Scope, query: AuditQuery, first: AuditPage): AsyncGenerator<AuditPage> {
  let page = first
  let left = query.limit - first.entries.length
  yield first
  while (page.next && left > 0) {
    page = await readAudit(db, scope, { ...query, after: page.next, limit: Math.min(left, exportPage) })
    left -= page.entries.length
    yield page
  }
}

type Lines = { readonly type: string; readonly begin: string; line(entry: Entity): string }

const jsonLines: Lines = {
  type: 'application/x-ndjson; charset=utf-8',
  begin: '',
  line: (entry) => `${JSON.stringify(entry)}\n`,
}

/** Names of changed fields are in one cell, with blanks in between. */
function csvLines(wanted: readonly string[] | undefined): Lines {
  const columns = Object.entries(auditEntry.fields).flatMap(([name, field]) =>
    isShown(field) && (wanted?.includes(name) ?? true)
      ? [{ name, type: field.type === 'array' ? ('string' as const) : field.type }]
      : [],
  )
  const { contentType, begin, row } = csvFormat(columns, true)
  const cell = (value: unknown) => (value === null ? null : Array.isArray(value) ? value.join(' ') : String(value))
  return { type: contentType, begin, line: (entry) => row(columns.map(({ name }) => cell(entry[name]))) }
}
