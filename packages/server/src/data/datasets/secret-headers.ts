// Encryption of secret request headers.
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Dataset } from './dataset-record.ts'

const purposeOf = (applicationId: string): string => `datasets.secrets.${applicationId}`

/** Encrypts the secret headers of requests to a web service. */
export function sealHeaders(headers: unknown, secrets: Secrets, applicationId: string): string | null {
  if (headers === undefined || headers === null) return null
  return secrets.seal(JSON.stringify(headers), purposeOf(applicationId))
}

export function openHeaders(
  { secrets: sealed, applicationId }: Pick<Dataset, 'secrets' | 'applicationId'>,
  secrets: Secrets,
): Record<string, string> {
  if (!sealed) return {}
  const { headers = {} } = JSON.parse(secrets.open(sealed, purposeOf(applicationId)))
  return headers
}
