import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { parseAddress } from '../../../kernel/egress/ip-address.ts'
import { createPolicy } from '../../../kernel/egress/policy.ts'
import type { Config } from '../../../kernel/settings/config.ts'
import { type Check, type Finding, fault, messageOf, ok, warning } from '../check.ts'

/** Settings that are valid one by one and do not fit together. */
export const settingChecks: readonly Check[] = [
  {
    name: 'BASE_URL',
    applies: ({ BASE_URL }) => BASE_URL !== undefined,
    async run({ config }) {
      const { protocol, hostname } = new URL(config.BASE_URL ?? '')
      const isOpen = !isLoopback(config.HOST)
      if (isOpen && isLoopback(hostname))
        return fault(
          `BASE_URL names ${hostname}, which other machines cannot reach.`,
          'Set BASE_URL to the address that clients use.',
        )
      if (protocol === 'http:' && !isLoopback(hostname))
        return warning(
          'BASE_URL is http: keys and passwords are sent in clear text.',
          'Let a proxy speak TLS, and set BASE_URL to https://…',
        )
      if (protocol === 'https:' && config.TRUST_PROXY === '')
        return warning(
          'BASE_URL is https, so a proxy stands in between, and TRUST_PROXY is unset: all clients seem to have its address.',
          'Set TRUST_PROXY to the addresses of the proxy, such as 10.0.0.0/8.',
        )
      return ok(`Clients use ${config.BASE_URL}.`)
    },
  },
  {
    name: 'TRUST_PROXY',
    applies: ({ TRUST_PROXY }) => TRUST_PROXY !== '',
    async run({ config: { TRUST_PROXY, HOST } }) {
      if (TRUST_PROXY === 'true' && !isLoopback(HOST))
        return warning(
          'TRUST_PROXY=true believes the X-Forwarded headers of everybody who reaches this port.',
          'Set TRUST_PROXY to the addresses of the proxy, such as 10.0.0.0/8.',
        )
      const names = ['true', 'loopback', 'linklocal', 'uniquelocal']
      const wrong = listed(TRUST_PROXY).filter(
        (entry) => !names.includes(entry) && isIP(entry.split('/')[0] ?? '') === 0,
      )
      if (wrong.length === 0) return ok(`Proxies at ${TRUST_PROXY} are believed.`)
      return fault(`TRUST_PROXY: ${wrong.join(', ')} is no address.`, 'Give addresses or CIDRs with commas, or true.')
    },
  },
  {
    name: 'EGRESS_ALLOW',
    applies: ({ EGRESS_ALLOW }) => EGRESS_ALLOW !== '',
    run: ({ config }) => checkEgress(config),
  },
]

async function checkEgress({ EGRESS_ALLOW: allow, HOST }: Config): Promise<Finding | Finding[]> {
  try {
    createPolicy({ allow, mayReachLoopback: false })
  } catch (error) {
    return fault(messageOf(error), 'See "Where tenants may reach" in docs/deploy.md for what an entry may be.')
  }
  const entries = listed(allow)
  const wide = entries.find((entry) => entry === '*' || entry === 'private')
  if (wide && !isLoopback(HOST))
    return warning(
      `EGRESS_ALLOW has ${wide}: tenants reach every service of your network.`,
      'Name the hosts that they need, such as db.internal:5432.',
    )
  const hosts = entries
    .map((entry) => entry.replace(/:(\d+|\*)$/, ''))
    .filter((host) => /[a-z]/i.test(host) && isIP(host) === 0 && !host.includes('/'))
  const unknown = await Promise.all(
    hosts.map(async (host) => ((await lookup(host).catch(() => undefined)) ? [] : [host])),
  )
  const lost = unknown.flat().filter((host) => host !== 'private')
  if (lost.length === 0) return ok(`Tenants may also reach ${allow}.`)
  return lost.map((host) =>
    warning(`EGRESS_ALLOW: ${host} cannot be resolved.`, 'Correct the name, or the DNS of this machine.'),
  )
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

const isLoopback = (host: string): boolean =>
  host === 'localhost' || parseAddress(host.replace(/^\[(.*)\]$/, '$1'))?.range() === 'loopback'
