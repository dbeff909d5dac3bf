import ipaddr from 'ipaddr.js'
import { StartError } from '../errors.ts'

type Address = ReturnType<typeof ipaddr.process>

/** Where connections may go. `host` is the name or the literal that was asked for, `address` what it resolved to. */
export type Policy = {
  allowsAddress(address: string, host: string, port: number): boolean
  /** Of HTTP; databases have any port. */
  allowsPort(host: string, port: number): boolean
}

type Entry =
  | { readonly kind: 'all' | 'private' }
  | { readonly kind: 'range'; readonly range: [Address, number] }
  | { readonly kind: 'host'; readonly host: string; readonly port: number | undefined }

const httpPorts = [80, 443, 8080, 8443]
const privateRanges = ['private', 'loopback', 'uniqueLocal']

/** They hand out the machine's own credentials, so no range and no `*` includes them. Some count as public addresses. */
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

export function createPolicy({ allow, isProduction }: { allow: string; isProduction: boolean }): Policy {
  const entries = allow
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(parseEntry)
  return {
    allowsAddress(address, host, port) {
      const parsed = parseAddress(address)
      if (!parsed) return false
      const isNamed = (name: string) =>
        entries.some((entry) => entry.kind === 'host' && entry.host === name && (entry.port ?? port) === port)
      if (isNamed(parsed.toString())) return true
      if (isMetadata(parsed)) return false
      if (isPublic(parsed) || (!isProduction && parsed.range() === 'loopback')) return true
      return isNamed(normalHost(host)) || entries.some((entry) => includes(entry, parsed))
    },
    allowsPort(host, port) {
      if (!isProduction || httpPorts.includes(port)) return true
      const name = normalHost(host)
      return entries.some((entry) => entry.kind === 'host' && entry.host === name && entry.port === port)
    },
  }
}

function parseEntry(text: string): Entry {
  if (text === '*') return { kind: 'all' }
  if (text.toLowerCase() === 'private') return { kind: 'private' }
  if (ipaddr.isValidCIDR(text)) {
    const [address, bits] = ipaddr.parseCIDR(text)
    const isWhole = bits === (address.kind() === 'ipv4' ? 32 : 128)
    return isWhole ? parseEntry(address.toString()) : { kind: 'range', range: [address, bits] }
  }
  if (ipaddr.IPv6.isValid(text)) return { kind: 'host', host: normalHost(text), port: undefined }
  const [, host = '', digits] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(text) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (host === '' || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new StartError(`EGRESS_ALLOW: "${text}" is no CIDR, host name, host:port, "private" or "*".`)
  }
  return { kind: 'host', host: normalHost(host), port }
}

/** One text for one host: names in lower case without the last dot, addresses in their shortest form. */
function normalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return parseAddress(bare)?.toString() ?? bare.toLowerCase().replace(/\.$/, '')
}

/** IPv4 inside IPv6 becomes IPv4. */
function parseAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

/** ipaddr.js calls everything unicast that it has no other word for, such as ::127.0.0.1; public is 2000::/3 only. */
function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(publicIpv6))
}

/** Also behind NAT64 and 6to4, which carry an IPv4 address in an IPv6 one. */
function isMetadata(address: Address): boolean {
  if (metadataAddresses.has(address.toString())) return true
  if (address.kind() === 'ipv4') return false
  const bytes = address.toByteArray()
  return [bytes.slice(12), bytes.slice(2, 6)].some((inner) => metadataAddresses.has(inner.join('.')))
}

function includes(entry: Entry, address: Address): boolean {
  if (entry.kind === 'all') return true
  if (entry.kind === 'private') return privateRanges.includes(address.range())
  return entry.kind === 'range' && entry.range[0].kind() === address.kind() && address.match(entry.range)
}
