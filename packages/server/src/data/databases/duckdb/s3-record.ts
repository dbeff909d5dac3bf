// What a record says of an S3 prefix: `db` the bucket and prefix, `host` the server, `user` and `password` the key.

import type { Entity } from '../../../api/resource/resource.ts'
import { invalid } from '../../../kernel/errors.ts'
import type { S3Location } from './s3-source.ts'

export const isS3 = (db: unknown): boolean => /^s3:\/\//i.test(String(db))

const defaultRegion = 'us-east-1'
const regionForm = /^[a-z\d-]{1,40}$/
/** A bucket, and a prefix of whole names: none begins with a dot, so none leads elsewhere. */
const addressForm =
  /^s3:\/\/(?<bucket>[a-z\d](?:[a-z\d]|[.-](?=[a-z\d-])){1,61}[a-z\d])\/(?<prefix>(?:(?!\.)[\p{L}\p{N}_. =+@,-]+\/)*)$/u

export function readS3Location({ db, host, metadata }: Entity): S3Location {
  const { bucket = '', prefix = '' } = addressForm.exec(String(db))?.groups ?? {}
  const { region = defaultRegion, pathStyle } = (metadata ?? {}) as { region?: string; pathStyle?: boolean }
  const endpoint = host ? String(host) : undefined
  return {
    bucket,
    prefix,
    region,
    endpoint,
    isPathStyle: pathStyle ?? (endpoint !== undefined || bucket.includes('.')),
  }
}

export function checkS3Record(record: Entity): void {
  if (!addressForm.test(String(record.db))) {
    throw invalid(
      'body/db',
      'must be a bucket and a prefix that ends with /, such as s3://bucket/ or s3://bucket/roads/2026/',
    )
  }
  checkEndpoint(String(record.host))
  checkKey(record)
  const { region = defaultRegion, pathStyle = false } = (record.metadata ?? {}) as Entity
  if (typeof region !== 'string' || !regionForm.test(region)) {
    throw invalid('body/metadata/region', 'must be the region of the bucket, such as eu-central-1')
  }
  if (typeof pathStyle !== 'boolean') {
    throw invalid(
      'body/metadata/pathStyle',
      'must be true (the bucket is part of the path) or false (of the host name)',
    )
  }
}

function checkEndpoint(host: string): void {
  if (host === '') return
  const url = URL.parse(host)
  if (url && /^https?:$/.test(url.protocol) && url.origin === host) return
  throw invalid(
    'body/host',
    'must be absent for Amazon S3, or the address of another S3 server without a path, such as https://minio.example.org:9000',
  )
}

/** The secret may be stored already. */
function checkKey({ user, password, passwordSet }: Entity): void {
  const hasSecret = password === undefined ? passwordSet === true : typeof password === 'string' && password !== ''
  if (user !== '' && !hasSecret) {
    throw invalid('body/password', 'is required with user: the secret of the access key. A public bucket needs neither')
  }
  if (user === '' && hasSecret) {
    throw invalid('body/user', 'is required with password: the id of the access key. A public bucket needs neither')
  }
  if (!/^[\w+=,.@/-]*$/.test(String(user))) throw invalid('body/user', 'must be the id of an access key')
}
