import Type from 'typebox'

/** The settings of S3-compatible storage for files. */
export const storageSettings = {
  S3_BUCKET: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'A bucket of S3-compatible storage for uploads, archives of tiles and fonts; unset: DATA_DIR',
    }),
  ),
  S3_PREFIX: Type.String({ default: '', description: 'What all keys in the bucket begin with, such as graticule/' }),
  S3_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'The address of the storage; unset: AWS itself' }),
  ),
  S3_REGION: Type.Optional(Type.String({ minLength: 1, description: 'Its region; unset: AWS_REGION' })),
  S3_ACCESS_KEY_ID: Type.Optional(
    Type.String({ description: 'Its credentials; unset: those in AWS_ACCESS_KEY_ID, or the role of the machine' }),
  ),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ description: 'Goes with it' })),
  S3_SESSION_TOKEN: Type.Optional(Type.String({ description: 'Goes with it, for credentials that end' })),
  S3_FORCE_PATH_STYLE: Type.Enum(['', 'true', 'false'], {
    default: '',
    description: 'Whether the bucket is in the path instead of the host name; unset: only with S3_ENDPOINT',
  }),
  S3_TIMEOUT_MS: Type.Integer({
    minimum: 10,
    maximum: 600_000,
    default: 10_000,
    description: 'A request to the storage, with its retries, may take so many milliseconds',
  }),
  S3_CACHE_BYTES: Type.Integer({
    minimum: 0,
    default: 10_737_418_240,
    description: 'Copies of MBTiles from the bucket that are kept in DATA_DIR; the least recently used go first',
  }),
}
