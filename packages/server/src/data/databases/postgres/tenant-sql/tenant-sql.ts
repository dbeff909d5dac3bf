import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { startThread } from '../../../../kernel/concurrency/channel.ts'
import { createWorkerPool } from '../../../../kernel/concurrency/worker-pool.ts'
import { ApiError, invalid } from '../../../../kernel/errors.ts'
import { checkDepth } from './sql-depth.ts'
import { type NamedRelation, readRelations, type SqlContext, withoutMarkers } from './sql-relations.ts'

const maxBytes = 100_000
/** A text of more words and signs takes longer than 10 ms to parse, so it is parsed in a thread. */
const shortTokens = 500
const patienceMs = 10_000

/** By the digest of what has passed: a dataset is opened for every query and tile. */
const passed = new LRUCache<string, readonly NamedRelation[]>({
  maxSize: 100_000,
  sizeCalculation: (relations) => relations.length + 1,
})

/**
 * Throws unless the text (with `:name` markers, if any) is one SELECT that changes nothing, locks nothing, names no schema of
 * others and calls only functions and types of the allow-lists. This is the first of two walls: the second is the role that it
 * runs as.
 */
export const checkTenantSql = async (text: string, context: SqlContext): Promise<void> =>
  void (await relationsOf(text, context))

/** The same, and answers which tables the query names. Names that WITH gives are not among them. */
export async function relationsOf(text: string, context: SqlContext): Promise<readonly NamedRelation[]> {
  const digest = createHash('sha256').update(`${context.isShared} ${context.schema} ${text}`).digest('base64')
  const relations = passed.get(digest) ?? (await parsedRelations(text, context))
  passed.set(digest, relations)
  return relations
}

async function parsedRelations(text: string, context: SqlContext): Promise<readonly NamedRelation[]> {
  if (Buffer.byteLength(text) > maxBytes) throw refused(`must not be longer than ${maxBytes} bytes`)
  // The parser reads up to a NUL; what it does not see, it cannot refuse.
  if (text.includes('\0') || !text.isWellFormed()) throw refused('must not contain NUL or half surrogate pairs')
  const tokens = checkDepth(withoutMarkers(text))
  return tokens > shortTokens
    ? thread.run({ text, context }, { owner: context.schema })
    : readRelations({ text, context })
}

const refused = (message: string) => invalid('body/source', message)

const tooLong = (): ApiError => refused(`takes longer than ${patienceMs / 1000} s to check: write it shorter`)

/** One for the process, since what it answers depends on nothing else; it ends when it is idle. */
const thread = createWorkerPool<{ text: string; context: SqlContext }, NamedRelation[]>({
  start: () => startThread(new URL('./sql-relations-worker.ts', import.meta.url)),
  size: 1,
  depth: 1,
  maxWaiting: 100,
  onAbort: 'cancel',
  timeout: { ends: 'replace', ms: () => patienceMs },
  errors: {
    busy: () => new ApiError('busy', 'Too many queries wait to be checked. Try again in a moment.'),
    late: tooLong,
    lost: tooLong,
    closing: () => new ApiError('shutting_down', 'The server is stopping.'),
  },
})
