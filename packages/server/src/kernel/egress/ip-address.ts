import ipaddr from 'ipaddr.js'

export type IpAddress = ReturnType<typeof ipaddr.process>

/** IPv4 inside IPv6 becomes IPv4; the zone of a link-local address is dropped. */
export function parseAddress(text: string): IpAddress | undefined {
  const bare = text.split('%', 1)[0] ?? ''
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined
}

/** One text for one host: names in lower case without the last dot, addresses in their shortest form. */
export function normalHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return parseAddress(bare)?.toString() ?? bare.toLowerCase().replace(/\.$/, '')
}

/** Where packets to this address may end: there, or at the IPv4 address that NAT64 or 6to4 carries in it. */
export function destinationsOf(address: IpAddress): IpAddress[] {
  if (address.kind() === 'ipv4') return [address]
  const bytes = address.toByteArray()
  return [address, ...[bytes.slice(12), bytes.slice(2, 6)].map((inner) => ipaddr.fromByteArray(inner))]
}

/** Loopback, and 0.0.0.0, which a connection takes for loopback. */
export const isLoopback = (address: IpAddress): boolean => ['loopback', 'unspecified'].includes(address.range())
