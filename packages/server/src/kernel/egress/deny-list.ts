import { networkInterfaces } from 'node:os'
import { destinationsOf, isLoopback, parseAddress } from './ip-address.ts'

/** A host name or an address with its port; a path, as of a Unix socket, stands for this machine. */
export type ServiceAddress = { readonly host: string; readonly port: number }
export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>

/** The platform's database is never open to tenants; its other services only if the settings name them. */
export type DeniedKind = 'database' | 'service'

export type DeniedServices = {
  readonly database: readonly ServiceAddress[]
  /** A function, because the port that the server listens on is not known before it listens. */
  services(): readonly ServiceAddress[]
}

/** Which of the platform's own services is at an address. */
export type DeniedAddresses = (address: string, port: number) => DeniedKind | undefined

type DeniedPort = { readonly kind: DeniedKind; readonly port: number; readonly addresses: ReadonlySet<string> }

/** Bound of the remembered addresses; the oldest are dropped. */
const maxKnown = 256

/**
 * The addresses of the platform's own services, as they are at this moment. Names are looked up each time, because a
 * database moves at a fail-over, and addresses once seen stay known, because a name may stand for several in turn.
 */
export function createDeniedAddresses(denied: DeniedServices, lookup: Lookup): () => Promise<DeniedAddresses> {
  const addressesByHost = new Map<string, Set<string>>()
  const pending = new Map<string, Promise<ReadonlySet<string>>>()

  async function look(host: string): Promise<ReadonlySet<string>> {
    const addresses = addressesByHost.get(host) ?? new Set()
    addressesByHost.set(host, addresses)
    for (const { address } of await lookup(host)) {
      const text = parseAddress(address)?.toString()
      if (text === undefined) continue
      addresses.delete(text)
      addresses.add(text)
    }
    for (const oldest of addresses) {
      if (addresses.size <= maxKnown) break
      addresses.delete(oldest)
    }
    return addresses
  }

  function addressesOf(host: string): Promise<ReadonlySet<string>> {
    if (host === '' || host.startsWith('/') || host.startsWith('@')) return Promise.resolve(new Set(['127.0.0.1']))
    const literal = parseAddress(host.replace(/^\[(.*)\]$/, '$1'))
    if (literal) return Promise.resolve(new Set([literal.toString()]))
    const looking = pending.get(host) ?? look(host).finally(() => pending.delete(host))
    pending.set(host, looking)
    return looking
  }

  /** Fails closed: if the database's own address cannot be resolved, no address can be known to be another. */
  async function placeOf(kind: DeniedKind, { host, port }: ServiceAddress): Promise<DeniedPort> {
    const addresses = await addressesOf(host).catch((error) => {
      const seen = addressesByHost.get(host) ?? new Set()
      if (kind === 'database' && seen.size === 0) throw error
      return seen
    })
    return { kind, port, addresses }
  }

  return async () => {
    const wanted = [
      ...denied.database.map((service) => placeOf('database', service)),
      ...denied.services().map((service) => placeOf('service', service)),
    ]
    const places = await Promise.all(wanted)
    const machine = machineAddresses()
    return (address, port) => kindAt(places, machine, address, port)
  }
}

/** A service on one address of this machine may listen on all of them, so each counts. */
function kindAt(
  places: readonly DeniedPort[],
  machine: ReadonlySet<string>,
  address: string,
  port: number,
): DeniedKind | undefined {
  const parsed = parseAddress(address)
  if (!parsed) return undefined
  const destinations = destinationsOf(parsed).map((one) => one.toString())
  const isHere = destinations.some((one) => isOfMachine(one, machine))
  const kinds = places
    .filter((place) => place.port === port)
    .filter(
      ({ addresses }) =>
        destinations.some((one) => addresses.has(one)) ||
        (isHere && [...addresses].some((one) => isOfMachine(one, machine))),
    )
    .map(({ kind }) => kind)
  return kinds.includes('database') ? 'database' : kinds[0]
}

function isOfMachine(address: string, machine: ReadonlySet<string>): boolean {
  const parsed = parseAddress(address)
  return machine.has(address) || (parsed !== undefined && isLoopback(parsed))
}

function machineAddresses(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((group) => group ?? [])
  return new Set(all.map(({ address }) => parseAddress(address)?.toString() ?? address))
}
