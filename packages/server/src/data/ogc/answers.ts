// Answers of /ogc that are a whole document.
import Type from 'typebox'
import type { Answer } from '../../api/http/operation.ts'
import { mediaTypes } from './links.ts'

/** The form depends on Accept, the content on the key, and links may carry the key. */
export const varyingHeaders = {
  'cache-control': 'private, no-cache',
  vary: 'accept, x-api-key, x-svc-api-key, authorization, authentication',
}

/** What most operations say of their success. */
export const linkedDocument = {
  status: 200,
  description: 'A document with links',
  contentType: mediaTypes.json,
  schema: Type.Unknown(),
}

/** Bytes, because each kind of document has a media type of its own. */
export const jsonAnswer = (
  document: unknown,
  type: string = mediaTypes.json,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  headers: { ...varyingHeaders, 'content-type': type, ...headers },
  body: Buffer.from(JSON.stringify(document)),
})
