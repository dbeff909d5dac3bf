/** Writes docs/limits.md from the table of limits and the settings. */

import { ApiError } from '../../kernel/errors.ts'
import type { CountedFor, CountedIn, Limit } from '../../kernel/limits/limit.ts'
import { limits } from '../../kernel/limits/limits.ts'
import { loadConfig } from '../../kernel/settings/config.ts'

const head = `# Limits

Generated from \`packages/server/src/kernel/limits/limits.ts\`: change it there. Whoever is over one of these limits gets its status and code, and in the
body of the answer \`limit\`, the value, and \`limitName\`, the name below. With 429 and 503 \`Retry-After\` says when to try again. Where
nothing is refused, the column says what happens instead.
\`GET /api/v1/config\` tells every key those that an operator may set.

`

const tail = `
**Where**: *request*: each request alone. *process*: each of \`WORKERS\`. *machine*: all workers of a machine, each of which has a part
([All cores](deploy.md#all-cores)). *installation*: all replicas together.

**Of one application**: a master key may give an application other values, in \`limits\` of its record:
\`PATCH /api/v1/applications/{id}\` with \`{"limits": {"queriesAtOnce": 4, "storageBytes": 10737418240}}\`. Names that are left out stay as
they are, \`null\` gives back the limit of the installation, and \`queriesAtOnce\` can only be lowered. The application reads its own; replicas know a change within a second.

**Rates**: \`REQUESTS_PER_SECOND\` is a token bucket for each key, and for each user of a token. Twice the rate may come at once. Master keys
have no limit. Without it, an application is bounded by what it does at once, not by how often it asks. Limits *per hour* and *per minute*
begin to count with the first request and start anew when the time is over; they are counted in the database.

**Connections**: whose a connection is, its last request tells, because a proxy sends those of many applications. From half of
\`applicationConnections\` on, answers close their connection, so that idle ones do not take the places of requests. Streams and
WebSockets hold theirs. Requests with a master key do not count.

**Embedded database**: see [One process](deploy.md#one-process) for the limits of queries there.

What an application uses is at \`GET /api/v1/usage\`: counters by day and month, and what it keeps. They are counted in memory and written every
ten seconds and at the stop; a process that is killed loses ten seconds of counting at most, and nothing else. A day is remembered
\`USAGE_DAYS\`. \`METRICS_APPLICATIONS=20\` gives the 20 applications with most requests (in each worker) series of their own in \`/metrics\`:
\`graticule_application_requests_total{application="…"}\` and one for each other counter, ten seconds behind.
`

export function limitsPage(): string {
  const rows = Object.entries<Limit>(limits).map(([name, limit]) =>
    [`\`${name}\``, limit.what, shownValue(limit), settingOf(limit), answerOf(limit), countedWhere(limit)].join(' | '),
  )
  const heading = 'Name | What | Value | Setting | Answer | Where, and of whom'
  return `${head}| ${heading} |\n|${'---|'.repeat(6)}\n${rows.map((row) => `| ${row} |\n`).join('')}${tail}`
}

const defaults: Readonly<Record<string, unknown>> = loadConfig({})

function shownValue(limit: Limit): string {
  const value = 'setting' in limit ? defaults[limit.setting] : limit.value
  if (!value) return 'none'
  return `${Number(value).toLocaleString('en').replaceAll(',', ' ')}${limit.unit ? ` ${limit.unit}` : ''}`
}

const settingOf = (limit: Limit): string => ('setting' in limit ? `\`${limit.setting}\`` : '')

const answerOf = ({ code }: Limit): string =>
  typeof code === 'object' ? code.instead : `${new ApiError(code, '').status} \`${code}\``

const whose: Readonly<Record<CountedFor, string>> = {
  application: 'each application',
  key: 'each key',
  user: 'each user',
  agent: 'each agent',
  address: 'each address',
  connection: 'each connection',
  everybody: 'everybody',
}

function countedWhere({ countedIn, countedFor, isPerApplication }: Limit): string {
  const where: CountedIn | string = countedFor ? `${countedIn}, ${whose[countedFor]}` : countedIn
  return isPerApplication ? `${where}; *of one application*` : where
}
