import { hash } from 'node:crypto'

/** The version of a tile source: a digest of everything its tiles depend on. It is short because it appears in URLs. */
export const digestVersion = (...parts: string[]): string => hash('sha1', parts.join(' '), 'base64url').slice(0, 12)
