import { lookup } from 'node:dns/promises'
import type { AddressInfo } from 'node:net'
import type { PlatformServer } from '../libpq/platform-server.ts'
import type { Config } from '../settings/config.ts'
import type { DeniedServices, ServiceAddress } from './deny-list.ts'
import { parseAddress } from './ip-address.ts'

// The platform's own services, which the SSRF guard keeps tenants from, and whether the server runs on a laptop.

type Settings = Pick<
  Config,
  | 'database'
  | 'NATS_URL'
  | 'SMTP_URL'
  | 'LAMBDA_ENDPOINT'
  | 'S3_ENDPOINT'
  | 'S3_BUCKET'
  | 'METRICS_PORT'
  | 'HOST'
  | 'BASE_URL'
  | 'TRUST_PROXY'
> &
  Partial<Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT'>>

/** The ports that these URLs mean when they name none. */
const defaultPorts: Record<string, number> = {
  'nats:': 4222,
  'tls:': 4222,
  'smtp:': 587,
  'smtps:': 465,
  'http:': 80,
  'https:': 443,
}

/** `listening` is the server's own address, once it listens. */
export function deniedServicesOf(
  config: Settings,
  listening: () => AddressInfo | string | null | undefined,
): DeniedServices {
  const { database, NATS_URL, SMTP_URL, LAMBDA_ENDPOINT, METRICS_PORT, HOST } = config
  const named = [NATS_URL, SMTP_URL, LAMBDA_ENDPOINT, config.OTEL_EXPORTER_OTLP_ENDPOINT]
    .filter((url) => url !== undefined)
    .map(serviceAt)
  named.push(...storageHosts(config))
  if (METRICS_PORT !== undefined) named.push({ host: HOST, port: METRICS_PORT })
  return {
    database: database === undefined ? [] : databaseHosts(database),
    services() {
      const own = listening()
      return own && typeof own === 'object' ? [...named, { host: own.address, port: own.port }] : named
    },
  }
}

/** The storage may answer at the bucket's own name too. Names that do not exist open and close nothing. */
function storageHosts({ S3_ENDPOINT, S3_BUCKET }: Settings): ServiceAddress[] {
  if (S3_ENDPOINT === undefined) return []
  const { host, port } = serviceAt(S3_ENDPOINT)
  const isAddress = parseAddress(host.replace(/^\[(.*)\]$/, '$1')) !== undefined
  return isAddress ? [{ host, port }] : [host, `${S3_BUCKET}.${host}`].map((one) => ({ host: one, port }))
}

function serviceAt(text: string): ServiceAddress {
  const { protocol, hostname, port } = new URL(text)
  return { host: hostname, port: Number(port) || (defaultPorts[protocol] ?? 0) }
}

/** The hosts that the driver may connect to, by name and by address. */
export const databaseHosts = ({ addresses }: PlatformServer): ServiceAddress[] =>
  addresses.flatMap(({ host, port, address }) => [
    { host, port },
    ...(address === undefined || address === host ? [] : [{ host: address, port }]),
  ])

/** Embedded database and reachable from this machine only, not even through a proxy: every caller is its user. */
export async function isLaptop(
  { HOST, BASE_URL, TRUST_PROXY }: Settings,
  database: 'embedded' | 'postgres',
): Promise<boolean> {
  if (database !== 'embedded' || TRUST_PROXY !== '') return false
  const hosts = [HOST, ...(BASE_URL === undefined ? [] : [new URL(BASE_URL).hostname.replace(/^\[(.*)\]$/, '$1')])]
  const answers = await Promise.all(hosts.map((host) => lookup(host, { all: true }).catch(() => [])))
  return answers.every((addresses) => addresses.length > 0 && addresses.every(({ address }) => isOnlyHere(address)))
}

const isOnlyHere = (address: string): boolean => parseAddress(address)?.range() === 'loopback'
