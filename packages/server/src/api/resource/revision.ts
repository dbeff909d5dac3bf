import type { FastifyRequest } from 'fastify'
import { invalid } from '../../kernel/errors.ts'
import { withoutCoding } from '../http/answers/compressed-answer.ts'
import type { ExpectedRevision } from './store.ts'

export const etagOf = (tag: string): string => `"${tag}"`

/**
 * Optimistic concurrency: `If-Match` as revisions. Weak tags never match, because a precondition compares strongly. What a tag
 * has behind a point (`liveTag`) is nothing that a write could overwrite.
 */
export function readIfMatch(request: FastifyRequest): ExpectedRevision {
  const header = request.headers['if-match']
  if (header === undefined || header.trim() === '*') return 'any'
  return tagsOf(header)
    .filter(({ isWeak }) => !isWeak)
    .flatMap(({ tag }) => /^(\d{1,18})(?:\.[\w.]+)?$/.exec(tag)?.[1] ?? [])
}

/** `If-None-Match`: does the client hold what has this tag? Malformed tags match nothing, which only costs a full answer. */
export function isUnchanged({ headers }: Pick<FastifyRequest, 'headers'>, held: string): boolean {
  const header = headers['if-none-match']
  if (header === undefined) return false
  const tag = etagOf(held)
  // What browsers send, without taking it apart.
  if (header === tag) return true
  const tags = header.split(',').map((item) => item.trim().replace(/^W\//, ''))
  return header.trim() === '*' || tags.some((item) => item === tag || withoutCoding(item) === tag)
}

/** The entity tags of `If-Match`. */
export function tagsOf(header: string): { isWeak: boolean; tag: string }[] {
  if (!/^\s*(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*\s*$/.test(header)) {
    throw invalid('header/if-match', 'must be * or entity tags in double quotes, such as "3"')
  }
  return [...header.matchAll(/(W\/)?("[^"]*")/g)].map(([, weak, tag = '']) => ({
    isWeak: weak !== undefined,
    tag: withoutCoding(tag).slice(1, -1),
  }))
}
