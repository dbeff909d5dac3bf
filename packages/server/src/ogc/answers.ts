// Answers of /ogc that are a whole document.
import type { Answer } from '../http/operation.ts'
import { mediaTypes } from './links.ts'

/** Bytes, because each kind of document has a media type of its own. */
export const jsonAnswer = (
  document: unknown,
  type: string = mediaTypes.json,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({ headers: { 'content-type': type, ...headers }, body: Buffer.from(JSON.stringify(document)) })
