// What an error of an S3 server means to whoever made the record. Its own words are never shown: they may be anybody's.
import type { FetchStream } from '../driver.ts'
import { readTexts } from './s3-xml.ts'

type Answer = Awaited<ReturnType<FetchStream>>

const maxErrorBytes = 64 * 1024
const codePath = 'Error/Code'
const regionPath = 'Error/Region'
const regionForm = /^[a-z\d-]{1,40}$/

type Reason = { readonly isSigned: boolean; readonly bucket: string; readonly region: string | undefined }

const wrongRegion = ({ region }: Reason): string =>
  region
    ? `the bucket is in the region ${region}: set metadata.region to "${region}".`
    : 'the bucket is in another region or at another address: check metadata.region and host. Redirects are not followed.'

const denied = ({ isSigned }: Reason): string =>
  isSigned
    ? 'access is denied. The key needs s3:GetObject for the files, and s3:ListBucket for the bucket unless metadata.files names them.'
    : 'access is denied without a key. Give an access key as user and its secret as password, or make the files public; a public bucket without a listing needs metadata.files.'

const reasons: Readonly<Record<string, (reason: Reason) => string>> = {
  AccessDenied: denied,
  AllAccessDisabled: denied,
  InvalidAccessKeyId: () => 'the server does not know the access key. Check user.',
  SignatureDoesNotMatch: () => 'the signature does not match. Check password, the secret of the access key, and host.',
  RequestTimeTooSkewed: () => 'the clocks of the two servers differ by too much. The operator can set the clock.',
  NoSuchBucket: ({ bucket }) => `there is no bucket "${bucket}". Check db, metadata.region and host.`,
  NoSuchKey: () => 'there is no such file.',
  PermanentRedirect: wrongRegion,
  TemporaryRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
}

export async function s3Refusal(
  { status, headers, body }: Answer,
  { bucket, isSigned }: Pick<Reason, 'bucket' | 'isSigned'>,
): Promise<string> {
  const texts = await readTexts(body, new Set([codePath, regionPath]), maxErrorBytes).catch(() => [])
  const textOf = (wanted: string): string | undefined => texts.find(({ path }) => path === wanted)?.text
  const region = headers['x-amz-bucket-region'] ?? textOf(regionPath) ?? ''
  const reason = { bucket, isSigned, region: regionForm.test(region) ? region : undefined }
  const code = textOf(codePath) ?? ''
  const explain = Object.hasOwn(reasons, code) ? reasons[code] : status >= 300 && status < 400 ? wrongRegion : undefined
  return explain?.(reason) ?? `the server answered with status ${status}.`
}
