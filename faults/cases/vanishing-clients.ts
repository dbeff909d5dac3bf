import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { psql } from '../../bench/tables.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import type { FaultServer } from '../server.ts'
import { type FaultTenant, make, makeTenant } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'

const goneWithinMs = 2_000
const clients = 500
/** Runs for longer than anybody waits. */
const endless = 'SELECT count(*) AS n FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b'

/** Asks, and is gone after a moment: the connection is reset without a word. */
async function vanish({ url }: FaultServer, dataset: string, key: string, afterMs: number): Promise<void> {
  const asked = request(`${url}/api/v1/datasets/${dataset}/query?timeout=120000`, {
    agent: false,
    headers: { 'x-api-key': key },
  })
  asked.on('error', () => undefined).on('response', (answer) => answer.on('error', () => undefined).resume())
  asked.end()
  await sleep(afterMs)
  asked.socket?.resetAndDestroy()
  asked.destroy()
}

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const { url: DATABASE_URL, adminUrl } = await context.postgres()
  const server = await context.server({ DATABASE_URL })
  const tenants: (FaultTenant & { endless: string; short: string })[] = []
  for (let n = 0; n < 10; n++) {
    const tenant = await makeTenant(server, `vanishing ${n}`)
    const dataset = async (source: string) =>
      (await make(server, 'datasets', { type: 'sql', name: 'a', source }, tenant.key)).id as string
    tenants.push({ ...tenant, endless: await dataset(endless), short: await dataset('SELECT 1 AS n') })
  }
  const active = () =>
    Number(psql(adminUrl, `SELECT count(*) FROM pg_stat_activity WHERE usename LIKE 'app\\_%' AND state <> 'idle'`))
  const times: number[] = []
  let most = 0
  for (let round = 0; round < context.size(1, 3); round++) {
    const leaving = Array.from({ length: clients }, (_, n) => {
      const { endless, key } = tenants[n % tenants.length] ?? { endless: '', key: '' }
      return vanish(server, endless, key, 1_000 + random() * 1_500)
    })
    await sleep(1_000)
    most = Math.max(most, active())
    await Promise.all(leaving)
    times.push(
      await untilSo(
        () => active() === 0,
        30_000,
        () => `${active()} backends are still at work`,
      ),
    )
  }
  for (const { short, key } of tenants) {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => server.call('GET', `/api/v1/datasets/${short}/query`, { key })),
    )
    expect(
      answers.every(({ status }) => status === 200),
      () => `afterwards: ${answers.map(({ status }) => status)}`,
    )
  }
  const longest = Math.max(...times)
  expect(most > 5, () => `only ${most} queries were running`)
  expect(longest <= context.allowed(goneWithinMs), () => `the last backend was gone after ${seconds(longest)}`)
  return {
    'clients that vanished': clients * times.length,
    'queries running at once': most,
    'the last backend gone after at most': seconds(longest),
    'all applications served afterwards': 'yes',
  }
}

export const vanishingClients: Fault = {
  name: 'vanishing-clients',
  promise: 'Queries of clients that vanish end in the database within 2 s, and their connections are free again',
  run,
}
