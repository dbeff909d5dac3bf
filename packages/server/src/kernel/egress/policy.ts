import ipaddr from 'ipaddr.js'
import { StartError } from '../errors.ts'
import type { DeniedKind } from './deny-list.ts'
import { destinationsOf, type IpAddress, normalHost, parseAddress } from './ip-address.ts'

/** `host` is the name or the literal that was asked for, `address` what it resolved to. */
export type EgressDestination = {
  readonly address: string
  readonly host: string
  readonly port: number
  /** HTTP is limited to a list of ports; databases may use any. */
  readonly isHttp: boolean
  /** The platform's own service at this address, if it is one. */
  readonly denied?: DeniedKind | undefined
}

/** Egress policy: where connections may go. */
export type Policy = { allows(destination: EgressDestination): boolean }

export type PolicyOptions = {
  /** EGRESS_ALLOW. */
  allow: string
  /** For a server on its user's own machine, which nobody else can reach. */
  mayReachLoopback: boolean
}

type Entry =
  | { readonly kind: 'all' | 'private' }
  | { readonly kind: 'range'; readonly range: [IpAddress, number] }
  | { readonly kind: 'host'; readonly host: string; readonly port: number | '*' | undefined }

export const httpPorts = [80, 443, 8080, 8443]
const privateRanges = ['private', 'loopback', 'uniqueLocal']

/** Cloud metadata services hand out the machine's credentials, so no range and no `*` includes them. */
const metadataAddresses = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
  ].map((address) => ipaddr.process(address).toString()),
)
const publicIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

export function createPolicy({ allow, mayReachLoopback }: PolicyOptions): Policy {
  const entries = allow
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(parseEntry)
  /** The ports that the list names for this host; `undefined` stands for an entry without a port. */
  const portsOf = (host: string) =>
    entries.flatMap((entry) => (entry.kind === 'host' && entry.host === host ? [entry.port] : []))

  return {
    allows({ address, host, port, isHttp, denied }) {
      const parsed = parseAddress(address)
      if (!parsed || denied === 'database') return false
      const ofAddress = portsOf(parsed.toString())
      const named = [...ofAddress, ...portsOf(normalHost(host))]
      if (denied === 'service') return named.includes(port)
      const isOwnMachine = mayReachLoopback && parsed.range() === 'loopback'
      if (isHttp && !httpPorts.includes(port) && !isOwnMachine && !isPortNamed(named, port)) return false
      if (isMetadata(parsed)) return isHostNamed(ofAddress, port)
      if (isPublic(parsed) || isOwnMachine) return true
      return isHostNamed(named, port) || entries.some((entry) => includes(entry, parsed))
    },
  }
}

type NamedPorts = readonly (number | '*' | undefined)[]
const isPortNamed = (named: NamedPorts, port: number): boolean => named.includes(port) || named.includes('*')
const isHostNamed = (named: NamedPorts, port: number): boolean => named.includes(undefined) || isPortNamed(named, port)

function parseEntry(text: string): Entry {
  if (text === '*') return { kind: 'all' }
  if (text.toLowerCase() === 'private') return { kind: 'private' }
  if (ipaddr.isValidCIDR(text)) {
    const [address, bits] = ipaddr.parseCIDR(text)
    const isWhole = bits === (address.kind() === 'ipv4' ? 32 : 128)
    return isWhole ? parseEntry(address.toString()) : { kind: 'range', range: [address, bits] }
  }
  if (ipaddr.IPv6.isValid(text)) return { kind: 'host', host: normalHost(text), port: undefined }
  const [, host = '', digits] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}|\*))?$/i.exec(text) ?? []
  const port = digits === undefined || digits === '*' ? digits : Number(digits)
  if (host === '' || (typeof port === 'number' && (port < 1 || port > 65_535))) {
    throw new StartError(`EGRESS_ALLOW: "${text}" must be a CIDR, host name, host:port, host:*, "private" or "*".`)
  }
  return { kind: 'host', host: normalHost(host), port }
}

/** ipaddr.js calls everything unicast that it has no other word for, such as ::127.0.0.1; public is 2000::/3 only. */
function isPublic(address: IpAddress): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(publicIpv6))
}

const isMetadata = (address: IpAddress): boolean =>
  destinationsOf(address).some((destination) => metadataAddresses.has(destination.toString()))

function includes(entry: Entry, address: IpAddress): boolean {
  if (entry.kind === 'all') return true
  if (entry.kind === 'private') return privateRanges.includes(address.range())
  return entry.kind === 'range' && entry.range[0].kind() === address.kind() && address.match(entry.range)
}
