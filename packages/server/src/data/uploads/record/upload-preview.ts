// What an upload would make, without making it: the answer to `POST /uploads?dryRun=true`.
import Type, { type Static } from 'typebox'
import { errorSchema, warningSchema } from './upload.ts'

const columnSchema = Type.Object({
  name: Type.String({ description: 'As in the file' }),
  column: Type.String({ description: 'As in the table' }),
  type: Type.String({ description: 'As attributes of datasets have it, and as the field types takes it' }),
  dbType: Type.String({ description: 'The type in the words of the database' }),
})

const geometrySchema = Type.Object({
  type: Type.String({ description: 'Such as Point or MultiPolygonZ' }),
  columns: Type.Array(Type.String(), { description: 'Of a table: those that it is read from' }),
  srid: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The reference system of the file; null where it is known by its text only',
  }),
  targetSrid: Type.Integer({ description: 'The reference system of the table' }),
})

const layerSchema = Type.Object({
  layer: Type.String(),
  name: Type.String({ description: 'Of the dataset' }),
  columns: Type.Array(columnSchema),
  geometry: Type.Union([geometrySchema, Type.Null()]),
  rowsRead: Type.Integer({ minimum: 0, description: 'What all this was found by' }),
  isWhole: Type.Boolean({
    description: 'Whether these are all rows; else later ones may change types and add warnings',
  }),
  rows: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description:
      'The first ten, by the columns of the table, geometries as GeoJSON in WGS 84. Texts are cut at 500 characters; a geometry of more than 64 kB is null',
  }),
  shortened: Type.Array(Type.String(), { description: 'The columns with values that were cut or left out' }),
  warnings: Type.Array(warningSchema),
})

export const uploadPreviewSchema = Type.Object(
  {
    fileName: Type.String(),
    size: Type.Integer({ description: 'In bytes' }),
    format: Type.Union([Type.String(), Type.Null()], { description: 'Null where the file cannot be read' }),
    layers: Type.Array(layerSchema),
    error: errorSchema,
  },
  { title: 'UploadPreview', description: 'What an upload would make; `error` says why it would fail' },
)

export type UploadPreview = Static<typeof uploadPreviewSchema>
export type PreviewedLayer = Static<typeof layerSchema>
