// The settings of queries, tiles, uploads and functions, a part of those in config.ts.
import Type from 'typebox'
import { seconds } from './setting-types.ts'

export const dataSettings = {
  STREAMS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 16,
    description: 'How many queries of datasets an application may run at once',
  }),
  STUCK_READER_MS: Type.Integer({
    minimum: 100,
    maximum: 86_400_000,
    default: 60_000,
    description: 'A client that takes nothing of an answer for so many milliseconds is cut off',
  }),
  LISTENERS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 1_000,
    description: 'How many clients of an application may follow changes of datasets at once',
  }),
  CHANGE_LOG_HOURS: Type.Integer({
    minimum: 1,
    maximum: 720,
    default: 24,
    description: 'How long changes of datasets are kept for clients that were away',
  }),
  EXPORT_MAX_BYTES: Type.Integer({
    minimum: 1_024,
    default: 1_073_741_824,
    description: 'The largest file of an export that is made before it is sent; at most 8 are made at once',
  }),
  EXPORT_CACHE_BYTES: Type.Integer({
    minimum: 0,
    default: 4_294_967_296,
    description: 'Bytes of such files that are kept in DATA_DIR for an hour; an application has a quarter at most',
  }),
  TILE_CACHE_MB: Type.Integer({
    minimum: 0,
    default: 128,
    description: 'Memory for tiles that were made; 0 keeps none',
  }),
  TILE_MAX_FEATURES: Type.Integer({ minimum: 1, default: 50_000, description: 'The most features in a tile' }),
  TILE_MAX_BYTES: Type.Integer({ minimum: 1_000, default: 500_000, description: 'The largest tile, uncompressed' }),
  BASEMAP_URL: Type.Optional(
    Type.String({
      pattern: '^(https?|pmtiles)://[^\\s]+$',
      maxLength: 2_000,
      description:
        'Streets for the base map: a PMTiles archive, tiles or a style (docs/maps.md); unset: the bundled world',
    }),
  ),
  GEOCODER_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      maxLength: 2_000,
      description:
        'A geocoder for the search for places, such as https://photon.example.org/api?q={q}&limit={limit}; unset: the bundled places only',
    }),
  ),
  OVERVIEW_MIN_ROWS: Type.Integer({
    minimum: 1,
    default: 50_000,
    description: 'Tables with so many rows get overviews for the low zooms of maps',
  }),
  OVERVIEW_REBUILD_SECONDS: seconds(
    'How long an overview of a table on another server is kept though the table changes',
    600,
    604_800,
  ),
  UPLOAD_MAX_BYTES: Type.Integer({ minimum: 1, default: 1_073_741_824, description: 'The largest file that is taken' }),
  UPLOADS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 2,
    description: 'How many uploads of an application are worked on at once; the rest wait',
  }),
  UPLOADS_WAITING_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'How many uploads of an application may be unfinished; further ones are refused',
  }),
  UPLOADS_PER_HOUR: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'How many uploads an application may send within an hour; 0: no limit',
  }),
  UPLOADS_ARRIVING: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'How many files may arrive at once at a replica, over all applications; further ones are refused',
  }),
  UPLOAD_MIN_RATE: Type.Integer({
    minimum: 0,
    default: 1_024,
    description: 'A file that arrives with fewer bytes a second, over 15 seconds, is refused; 0: any rate will do',
  }),
  UPLOAD_DEADLINE_SECONDS: seconds('A file that has not arrived after so long is refused', 1_800, 86_400),
  STORAGE_PER_APPLICATION: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Bytes of tables and files that an application may keep; unset: no limit',
    }),
  ),
  UPLOAD_STALLED_SECONDS: seconds('A file whose reading makes no progress for so long fails', 120, 86_400),
  UPLOAD_WORK_SECONDS: seconds('The longest that an upload is worked on, from reading to publishing', 3_600, 86_400),
  UPLOAD_GDAL: Type.Enum(['wasm', 'native'], {
    default: 'wasm',
    description: 'What reads GML, DXF, MapInfo and FileGDB: the GDAL that comes along, or `ogr2ogr` of this machine',
  }),
  MESSAGES_PER_MINUTE: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'How many messages an application may send to its contact points within a minute; 0: no limit',
  }),
  LAMBDA_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'Where functions are; unset: AWS itself' }),
  ),
  LAMBDA_FUNCTIONS: Type.String({
    default: '',
    description:
      'Which functions datasets may call: names, prefix*, applicationId:name or applicationId:prefix*, with commas; ' +
      '* for all; unset: none',
  }),
  AWS_REGION: Type.String({ default: 'us-east-1', description: 'The region of functions' }),
  AWS_ACCESS_KEY_ID: Type.Optional(Type.String({ description: 'Calls functions; unset: lambda datasets are refused' })),
  AWS_SECRET_ACCESS_KEY: Type.Optional(Type.String({ description: 'Goes with it' })),
  AWS_SESSION_TOKEN: Type.Optional(Type.String({ description: 'Goes with it, for credentials that end' })),
}
