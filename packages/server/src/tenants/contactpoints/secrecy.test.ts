import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pino } from 'pino'
import { migratedDatabase } from '../../../testing/database.ts'
import { about } from '../../../testing/harness.ts'
import { httpSink } from '../../../testing/peers/http-sink.ts'
import { until } from '../../../testing/until.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { createApp } from '../../boot/app.ts'
import { setUp } from '../../boot/start/first-start.ts'
import { loadConfig } from '../../kernel/settings/config.ts'

// One database is enough: secrets are sealed before they are stored.

const base = '/api/v1/contactpoints'
const master = randomUUID()
const secrets = createSecrets('a secret for tests, long enough to be one')
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const token = 'a-very-secret-header-value'

test('no secret is in an answer, a delivery or the log, whatever goes wrong', async () => {
  const { db, url, close } = await migratedDatabase()
  await setUp(db, secrets, master)
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const echo = await httpSink(({ path, headers }) => ({ status: 400, body: `${path} ${JSON.stringify(headers)}` }))
  const config = loadConfig({
    SMTP_URL: 'smtp://user:smtp-pa55word@127.0.0.1:1',
    ...(url && { DATABASE_URL: url }),
  })
  const loud = await createApp({ db, secrets, logger, config, about }).catch(async (error) => {
    await Promise.all([echo.close(), close()])
    throw error
  })
  const request = async (method: 'GET' | 'POST', path: string, payload?: object) =>
    (await loud.http.inject({ method, url: path, headers: { 'x-api-key': master }, ...(payload && { payload }) })).body
  const answers: string[] = []
  try {
    const points = [
      { type: 'webhook', settings: { url: `${echo.url}/a`, secret, headers: { 'X-Token': token } } },
      { type: 'slack', settings: { url: `${echo.url}/services/${token}` } },
      { type: 'discord', settings: { url: `http://127.0.0.1:1/${token}` } },
      { type: 'googlechat', settings: { url: `http://169.254.169.254/?key=${token}` } },
      { type: 'email', settings: { addresses: ['a@example.org'] } },
      { type: 'teams', settings: { url: token } },
      { type: 'telegram', settings: { botToken: token, chatId: 1 } },
      { type: 'webhook', settings: { url: echo.url, secret: token, headers: { 'bad header': token } } },
    ]
    for (const point of points) {
      const made = await request('POST', base, { name: 'n', ...point })
      answers.push(made)
      const { id } = JSON.parse(made)
      if (!id) continue
      answers.push(await request('POST', `${base}/${id}/send`, { message: 'x' }))
      await until(async () => JSON.parse(await request('GET', `${base}/${id}/deliveries`))[0]?.attempts.length > 0)
      answers.push(await request('GET', `${base}/${id}/deliveries`), await request('GET', `${base}/${id}`))
    }
  } finally {
    await loud.close()
    await echo.close()
    await close()
  }
  const all = [...answers, ...lines].join('\n')
  assert.ok(lines.length > 10)
  for (const word of [secret, secret.slice(6), token, master, 'smtp-pa55word']) assert.ok(!all.includes(word), word)
})
