import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasDuckdb } from '../../../data/databases/duckdb/package.ts'
import { type Check, ok, warning } from '../check.ts'

/** The ways in which a process of DuckDB gives up the network (packages/driver-duckdb), as root and as another user. */
const ways = [['--net'], ['--user', '--map-current-user', '--net']]

/** Whether processes of DuckDB, which read files of tenants, can be cut off from the network. */
export const duckdbChecks: readonly Check[] = [
  {
    name: 'duckdb',
    async run() {
      if (!hasDuckdb()) return []
      for (const way of ways) if (await canUnshare(way)) return ok('Processes of DuckDB have no network.')
      return warning(
        'Processes of DuckDB, which read files of tenants, keep the network: this machine lets them have no namespace. Only DuckDB’s own settings keep queries from it.',
        'In a systemd unit: RestrictNamespaces=user net; elsewhere: util-linux with unshare, and sysctl user.max_user_namespaces above 0.',
      )
    },
  },
]

const canUnshare = (way: readonly string[]): Promise<boolean> =>
  promisify(execFile)('unshare', [...way, 'true']).then(
    () => true,
    () => false,
  )
