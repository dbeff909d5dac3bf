// Tile settings.
import Type, { type Static } from 'typebox'
import { validator } from '../../../api/http/input/validate.ts'
import type { Entity } from '../../../api/resource/resource.ts'

/** The settings in `metadata.tiles` of a tile source. */
const schema = Type.Object(
  {
    maxFeatures: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    maxBytes: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 50_000_000 })),
    overviews: Type.Optional(Type.Boolean()),
    cluster: Type.Optional(
      Type.Object(
        {
          maxZoom: Type.Integer({ minimum: 0, maximum: 24 }),
          radius: Type.Optional(Type.Integer({ minimum: 1, maximum: 512 })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

export type TileSettings = Static<typeof schema>

const read = validator(schema, 'body/metadata/tiles')

export function readTileSettings(metadata: Entity): TileSettings {
  return metadata.tiles === undefined ? {} : (read(metadata.tiles) as TileSettings)
}
