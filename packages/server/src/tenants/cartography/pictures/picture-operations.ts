import Type from 'typebox'
import type { Scope } from '../../../api/access/acl.ts'
import { type Operation, operationUsing } from '../../../api/http/operation.ts'
import { recordGuard } from '../../../api/resource/reach.ts'
import { getEntity } from '../../../api/resource/store.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import { type StyleServices, style } from '../styles/style.ts'
import { jpegSize } from './jpeg.ts'

const prefix = 'data:image/jpeg;base64,'
const { stylePictureBytes, stylePicturePixels } = limits
/** Base64 takes four characters for three bytes; what is too large gets a sentence of its own up to twice the limit. */
const maxText = 2 * Math.ceil((stylePictureBytes.value * 4) / 3)
/** One white pixel. */
const smallest =
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////' +
  'wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA//9k='

const pictureSchema = Type.Object(
  {
    picture: Type.Union([
      Type.String({ maxLength: maxText, description: 'A JPEG as a data address: `data:image/jpeg;base64,…`' }),
      Type.Null(),
    ]),
  },
  { additionalProperties: false, examples: [{ picture: prefix + smallest }] },
)
const success = { status: 200, description: 'The picture, or null', schema: pictureSchema }

const operation = operationUsing<StyleServices>()
const common = { path: '/api/v1/styles/{id}/picture' } as const

/** The picture of a map, which lists and shared links show. Whoever saves a map draws it: the server has no graphics processor. */
export const pictureOperations: readonly Operation<StyleServices>[] = [
  operation({
    ...common,
    id: 'styles.getPicture',
    method: 'GET',
    summary: 'Get the picture of a style',
    description: 'Null if none was stored, or the style has changed since.',
    access: { class: 'styles', level: 'read' },
    success,
    async handle({ scope, services }, { params: { id } }) {
      await getEntity({ resource: style, services }, scope, id, ['id'])
      const [row] = await services.db.query<{ picture: Uint8Array }>(sql`
        SELECT p.picture FROM svc.style_pictures p JOIN svc.styles s ON s.id = p.style_id
        WHERE s.id = ${id}::uuid AND p.style_digest = md5(s.style::text)`)
      const picture = row ? prefix + Buffer.from(row.picture).toString('base64') : null
      return { body: { picture }, headers: { 'cache-control': 'private, no-cache' } }
    },
  }),
  operation({
    ...common,
    id: 'styles.setPicture',
    method: 'PUT',
    summary: 'Store the picture of a style',
    description:
      'A JPEG of the map, for lists and for links that were shared: of the style as it is now. Null removes it. The style and its ETag stay as they are.',
    access: { class: 'styles', level: 'write' },
    body: pictureSchema,
    bodyLimit: maxText + 1_024,
    beforeBody: recordGuard(style),
    success,
    async handle({ scope, services }, { params: { id }, body }) {
      await storePicture(services, scope, id, body.picture)
      return { body }
    },
  }),
]

async function storePicture(services: StyleServices, scope: Scope, id: string, picture: string | null): Promise<void> {
  const read = picture === null ? null : readPicture(picture)
  await getEntity({ resource: style, services }, scope, id)
  if (!read) {
    await services.db.query(sql`DELETE FROM svc.style_pictures WHERE style_id = ${id}::uuid`)
    return
  }
  const { bytes, width, height } = read
  await services.db.query(sql`
    INSERT INTO svc.style_pictures (style_id, picture, width, height, style_digest)
    SELECT id, ${bytes}, ${width}, ${height}, md5(style::text) FROM svc.styles WHERE id = ${id}::uuid
    ON CONFLICT (style_id) DO UPDATE SET picture = excluded.picture, width = excluded.width,
      height = excluded.height, style_digest = excluded.style_digest`)
}

function readPicture(text: string) {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : undefined
  const bytes = encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
  const size = bytes && jpegSize(bytes)
  if (!size) throw invalid('body/picture', `must be a JPEG as a data address: ${prefix}…`)
  const path = 'body/picture'
  const { value: maxBytes } = stylePictureBytes
  if (bytes.length > maxBytes)
    throw overLimit('stylePictureBytes', maxBytes, `must have at most ${maxBytes} bytes`, { path })
  const { value: maxPixels } = stylePicturePixels
  if (Math.max(size.width, size.height) > maxPixels)
    throw overLimit('stylePicturePixels', maxPixels, `must be at most ${maxPixels} pixels wide and high`, { path })
  return { bytes, ...size }
}
