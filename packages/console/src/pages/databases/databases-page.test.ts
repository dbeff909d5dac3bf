import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { tenantSchema } from '../../../../server/src/data/databases/tenant-schema.ts'
import { ident, sql } from '../../../../server/src/kernel/db/sql.ts'
import { forwardDatabase } from '../../../../server/testing/peers/forwarded-database.ts'
import { s3Server } from '../../../../server/testing/peers/s3-server.ts'
import { accessibilityFaults, type ConsolePage, screenshots, setStage } from '../../../testing/stage.ts'

const stage = setStage()
const noPostgres = process.env.TEST_DATABASE_URL ? false : 'needs a PostgreSQL server'
const ask = (method: string, path: string) => stage.app.call(method, `/api/v1/${path}`, { key: stage.tenant.developer })

/** The browser notes each refused request in its console, which is no fault of the page. */
function assertQuiet({ faults, foreign }: ConsolePage): void {
  assert.deepEqual([faults.filter((fault) => !/Failed to load resource/.test(fault)), foreign], [[], []])
}

test('tables of a database are listed, searched, ticked and published as datasets and tiles', async () => {
  const schema = tenantSchema(stage.tenant.id)
  await stage.app.db.query(
    sql`CREATE TABLE ${ident(schema, 'roads')} (id int PRIMARY KEY, geom geometry(LineString, 4326))`,
  )
  await stage.app.db.query(sql`COMMENT ON TABLE ${ident(schema, 'roads')} IS 'Ways to go'`)
  await stage.app.db.query(sql`INSERT INTO ${ident(schema, 'roads')} VALUES (1, 'SRID=4326;LINESTRING(7 46, 8 47)')`)
  await stage.app.db.query(sql`CREATE TABLE ${ident(schema, 'owners')} (id int PRIMARY KEY, name text)`)
  const page = await stage.open('/databases')
  await page.getByText('1 connection').waitFor()
  await page.getByRole('link', { name: /Internal/ }).click()
  await page.getByText('3 tables').waitFor()
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('roads').getByRole('cell', { name: 'LineString, EPSG:4326', exact: true }).waitFor()
  await row('cities').getByRole('link', { name: 'Open the dataset of cities' }).waitFor()
  assert.equal(await row('cities').getByRole('checkbox').count(), 0)

  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText(/Connected in [\d.,]+ m?s · PostgreSQL \d+.* · PostGIS \d/).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])

  await page.getByRole('searchbox').fill('ways to')
  await page.getByText('1 of 3 tables').waitFor()
  await page.getByRole('searchbox').fill('')
  await page.getByRole('checkbox', { name: 'All that are shown and not yet published' }).check()
  await screenshots(page, 'databases-tables')
  await page.getByRole('button', { name: 'Publish 2' }).click()
  await page.getByText('2 published.').waitFor()
  await row('roads').getByRole('link', { name: 'Open the dataset of roads' }).waitFor()
  const [roads] = (await ask('GET', 'datasets?filter[name]=roads')).body
  assert.equal((await ask('GET', `tilesources?filter[source]=${roads.id}`)).body.length, 1)
  assertQuiet(page)
  await row('roads').getByRole('link', { name: 'Open the dataset of roads' }).click()
  await page.waitForURL(new RegExp(`/data/${roads.id}/table`))
  await page.close()
})

/** As in an installation without the optional package: nothing finds it. */
function hideDuckdb(): { deregister(): void } {
  return registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith('@duckdb/')) throw Object.assign(new Error('absent'), { code: 'MODULE_NOT_FOUND' })
      return next(specifier, context)
    },
  })
}

test('a folder of files is connected, tried and published, and what is wrong with it is told in the server’s words', async () => {
  const folder = join(stage.app.dataDirectory, 'files', stage.tenant.id, 'data')
  const page = await stage.open('/databases/new')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Files')
  await dialog.getByLabel('Kind').selectOption('duckdb')
  assert.equal(await dialog.getByLabel('Host', { exact: true }).count(), 0)
  await dialog.getByRole('textbox', { name: 'Folder' }).fill('../elsewhere')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByText('must be a folder of the application’s files').waitFor()
  await dialog.getByRole('textbox', { name: 'Folder' }).fill('data')
  assert.deepEqual(await accessibilityFaults(page), [])
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByRole('alert').getByText('There is no folder "data" among the files').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await dialog.getByRole('button', { name: 'Save anyway' }).click()
  await page.getByText('Files in data').waitFor()
  const record = page.getByRole('article')
  await record.getByRole('alert').getByText('There is no folder "data" among the files').waitFor()
  await record.getByRole('button', { name: 'Test the connection' }).click()
  await record.getByRole('status').getByText('There is no folder "data" among the files').waitFor()

  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'harbours.csv'), 'id,name\n1,Kiel\n2,Bergen\n')
  await record.getByRole('button', { name: 'Try again' }).click()
  await record.getByText('1 table', { exact: true }).waitFor()
  await record.getByRole('button', { name: 'Test the connection' }).click()
  await record.getByText(/Connected in [\d.,]+ m?s · DuckDB v?[\d.]+$/).waitFor()
  await screenshots(page, 'databases-files')
  await record.getByRole('button', { name: 'Look into harbours' }).click()
  await page.getByRole('dialog').getByRole('cell', { name: 'Bergen' }).waitFor()
  await page.getByRole('dialog').getByText('2 rows').waitFor()
  await page.keyboard.press('Escape')
  await record.getByRole('checkbox', { name: 'Publish harbours' }).check()
  await record.getByRole('button', { name: 'Publish 1' }).click()
  await record.getByRole('link', { name: 'Open the dataset of harbours' }).waitFor()
  const [harbours] = (await ask('GET', 'datasets?filter[name]=harbours')).body
  const { body: rows } = await ask('GET', `datasets/${harbours.id}/query?sort=id`)
  assert.deepEqual(
    rows.map(({ name }: { name: string }) => name),
    ['Kiel', 'Bergen'],
  )

  assert.equal((await ask('DELETE', `datasets/${harbours.id}`)).status, 200)
  assert.equal((await ask('DELETE', `databases/${harbours.databaseId}`)).status, 200)
  assertQuiet(page)
  await page.close()
})

test('a database whose driver is not installed says so, and what to install', async () => {
  const body = { type: 'duckdb', name: 'Files', db: 'data' }
  const { body: made } = await stage.app.call('POST', '/api/v1/databases', { key: stage.tenant.developer, body })
  const hidden = hideDuckdb()
  try {
    const page = await stage.open(`/databases/${made.id}`)
    const record = page.getByRole('article')
    await record.getByRole('alert').getByText('Its operator can install @graticule/driver-duckdb').waitFor()
    await record.getByRole('button', { name: 'Test the connection' }).click()
    await record.getByRole('status').getByText('Its operator can install @graticule/driver-duckdb').waitFor()
    await record.getByRole('status').getByText('not_installed').waitFor()
    assertQuiet(page)
    await page.close()
  } finally {
    hidden.deregister()
  }
  assert.equal((await ask('DELETE', `databases/${made.id}`)).status, 200)
})

test('files behind a web address are named, and a refusal to fetch them is shown', async () => {
  const page = await stage.open('/databases/new')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Open data')
  await dialog.getByLabel('Kind').selectOption('duckdb')
  await dialog.getByLabel('Web address').check()
  await dialog.getByLabel('Address', { exact: true }).fill('https://10.0.0.1/open/')
  await dialog.getByLabel('Files', { exact: true }).fill('below/roads.parquet')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByText('must be a list of 1 to 100 names of files behind the address').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await dialog.getByLabel('Files', { exact: true }).fill('roads.parquet\nplaces.csv')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByRole('button', { name: 'Save anyway' }).click()
  const record = page.getByRole('article')
  await record.getByText('roads.parquet, places.csv').waitFor()
  await record.getByRole('button', { name: 'Test the connection' }).click()
  await record
    .getByRole('status')
    .getByText(/EGRESS_ALLOW/)
    .waitFor()
  const [made] = (await ask('GET', `databases?filter[name]=${encodeURIComponent('Open data')}`)).body
  assert.equal((await ask('DELETE', `databases/${made.id}`)).status, 200)
  assertQuiet(page)
  await page.close()
})

test('a bucket is connected with a key whose secret is never shown and stays when the record is edited', async (t) => {
  const key = { id: 'AKIATEST', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY' }
  const server = await s3Server()
  t.after(() => server.close())
  server.key = key
  server.objects.set('open/a.csv', Buffer.from('id\n1\n')).set('open/b.csv', Buffer.from('id\n2\n'))
  const page = await stage.open('/databases/new')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Bucket')
  await dialog.getByLabel('Kind').selectOption('duckdb')
  await dialog.getByLabel('S3 bucket').check()
  await dialog.getByLabel('Bucket and prefix').fill('s3://maps/open/')
  await dialog.getByLabel('Server', { exact: true }).fill(server.origin)
  await dialog.getByLabel('Access key id').fill(key.id)
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByText('is required with user: the secret of the access key').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'databases-bucket')
  await dialog.getByLabel('Secret access key').fill(key.secret)
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog
    .getByRole('alert')
    .getByText(/the bucket is in the region eu-central-1/)
    .waitFor()
  await dialog.getByRole('button', { name: 'Save anyway' }).click()
  const record = page.getByRole('article')
  await record.getByRole('button', { name: 'Test the connection' }).click()
  await record
    .getByRole('status')
    .getByText(/the bucket is in the region eu-central-1/)
    .waitFor()

  await record.getByRole('button', { name: 'Edit' }).click()
  assert.equal(await dialog.getByLabel('Secret access key').inputValue(), '')
  await dialog.getByText('Leave empty to keep the one that is stored.').waitFor()
  await dialog.getByLabel('Region').fill('eu-central-1')
  await dialog.getByLabel('Files', { exact: true }).fill('b.csv')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await record.getByText('eu-central-1', { exact: true }).waitFor()
  await record.getByRole('button', { name: 'Test the connection' }).click()
  await record.getByText(/Connected in .* · DuckDB/).waitFor()
  await record.getByRole('checkbox', { name: 'Publish b', exact: true }).waitFor()
  assert.equal(await record.getByRole('checkbox', { name: 'Publish a', exact: true }).count(), 0)
  const [made] = (await ask('GET', 'databases?filter[name]=Bucket')).body
  assert.equal((await ask('DELETE', `databases/${made.id}`)).status, 200)
  assertQuiet(page)
  await page.close()
})

test('an address that the server may not reach is refused in its words, and the default database stays', async () => {
  const page = await stage.open('/databases/new')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Far away')
  await dialog.getByLabel('Host', { exact: true }).fill('not a host')
  await dialog.getByLabel('User', { exact: true }).fill('reader')
  await dialog.getByLabel('Database', { exact: true }).fill('land')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByText('must be a host name or an IP address').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'databases-new')
  await dialog.getByLabel('Host', { exact: true }).fill('10.0.0.1')
  await dialog.getByLabel('Password').fill('secret')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog
    .getByRole('alert')
    .getByText(/EGRESS_ALLOW/)
    .waitFor()
  await dialog.getByRole('button', { name: 'Save anyway' }).click()
  await page.getByText('reader@10.0.0.1:5432/land').waitFor()
  const tables = page.getByRole('article').getByRole('alert')
  await tables.getByText(/EGRESS_ALLOW/).waitFor()
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page
    .getByRole('article')
    .getByRole('status')
    .getByText(/EGRESS_ALLOW/)
    .waitFor()
  await screenshots(page, 'databases-refused')

  await page.getByRole('button', { name: 'Edit' }).click()
  assert.equal(await dialog.getByLabel('Password').inputValue(), '')
  await dialog.getByText('Leave empty to keep the one that is stored.').waitFor()
  await dialog.getByLabel('Host', { exact: true }).fill('10.0.0.2')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('is required when type, host, port, user or db changes').waitFor()
  await dialog.getByLabel('Host', { exact: true }).fill('10.0.0.1')
  await dialog.getByLabel('Name', { exact: true }).fill('Nearer')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Nearer' }).waitFor()

  await page.getByRole('button', { name: 'Actions for Nearer' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const question = page.getByRole('alertdialog')
  assert.equal(await question.getByRole('button', { name: 'Delete' }).isDisabled(), true)
  await question.getByLabel(/Type “Nearer”/).fill('Nearer')
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('“Nearer” is deleted').waitFor()
  assert.equal((await ask('GET', 'databases?filter[name]=Nearer')).body.length, 0)
  await page.getByRole('link', { name: /Internal/ }).click()
  await page.getByRole('button', { name: 'Actions for Internal' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).and(page.locator('[aria-disabled=true]')).waitFor()
  assertQuiet(page)
  await page.close()
})

test('a kind of database that the console has never heard of is connected by the form that its driver declares', async () => {
  const field = { kind: 'text', required: true, secret: false }
  const sheets = {
    name: 'sheets',
    title: 'Spreadsheets',
    isPlatform: false,
    isWritable: false,
    canFollow: false,
    engines: [],
    summary: 'Sheet {db} of {host}',
    contents: 'Sheets',
    fields: [
      { ...field, name: 'db', label: 'Sheet', help: 'The name on its tab' },
      { ...field, name: 'host', label: 'Office', default: 'office.example.org' },
      { ...field, name: 'port', label: 'Line', kind: 'integer', required: false },
      { ...field, name: 'password', label: 'Token', kind: 'password', secret: true },
      {
        ...field,
        name: 'metadata.pace',
        label: 'Pace',
        kind: 'choice',
        default: 'slow',
        choices: choicesOf('slow', 'fast'),
      },
      { ...field, name: 'metadata.why', label: 'Why so fast', when: { field: 'metadata.pace', pattern: '^fast$' } },
    ],
  }
  const page = await stage.open('/databases')
  await page.route('**/databases/drivers?details=true', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: [...(await response.json()), sheets] })
  })
  let sent: unknown
  await page.route('**/api/v1/databases/test', (route) => route.fulfill({ json: { ok: true, latencyMs: 3 } }))
  await page.route('**/api/v1/databases', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    sent = route.request().postDataJSON()
    const errors = [{ path: 'body/metadata/why', message: 'is no reason' }]
    const json = { type: 'about:blank', title: 'Invalid', status: 400, code: 'invalid_request', detail: 'No.', errors }
    await route.fulfill({ status: 400, contentType: 'application/problem+json', json })
  })
  await page.goto(`${stage.url}/console/databases/new`)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Plans')
  await dialog.getByLabel('Kind').selectOption('Spreadsheets')
  await dialog.getByText('The name on its tab').waitFor()
  assert.equal(await dialog.getByLabel('Office').inputValue(), 'office.example.org')
  assert.equal(await dialog.getByLabel('Token').getAttribute('type'), 'password')
  assert.equal(await dialog.getByLabel('Why so fast').count(), 0)
  await dialog.getByText('Uploads that name none then fail, because it is only read').waitFor()
  await dialog.getByLabel('Sheet').fill('2027')
  await dialog.getByLabel('Line').fill('7')
  await dialog.getByLabel('Token').fill(' t ')
  await dialog.getByLabel('Pace').selectOption('fast')
  await dialog.getByLabel('Why so fast').fill('late')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshots(page, 'databases-unknown-kind')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.getByText('is no reason').waitFor()
  assert.deepEqual(sent, {
    type: 'sheets',
    name: 'Plans',
    db: '2027',
    host: 'office.example.org',
    port: 7,
    password: ' t ',
    metadata: { pace: 'fast', why: 'late' },
  })
  assertQuiet(page)
  await page.close()
})

const choicesOf = (...values: string[]) => values.map((value) => ({ value, label: value }))

describe('a PostgreSQL server of the application’s own', { skip: noPostgres }, () => {
  const name = `console_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  let administrator: pg.Client
  let forwarded: Awaited<ReturnType<typeof forwardDatabase>>
  before(async () => {
    forwarded = await forwardDatabase(stage.app.url ?? '')
    administrator = new pg.Client({ connectionString: stage.app.adminUrl })
    await administrator.connect()
    await administrator.query(`CREATE DATABASE ${name} TEMPLATE graticule_template`)
    await administrator.query(`CREATE ROLE ${name} LOGIN PASSWORD 's3cret/pass'`)
    const inside = new URL(stage.app.adminUrl ?? '')
    inside.pathname = `/${name}`
    const client = new pg.Client({ connectionString: inside.href })
    await client.connect()
    await client.query(`
      CREATE SCHEMA land;
      CREATE TABLE land.parcels (id int PRIMARY KEY, geom geometry(MultiPolygon, 3067));
      CREATE VIEW public.places AS SELECT 1 AS id;
      GRANT USAGE ON SCHEMA land TO ${name};
      GRANT SELECT ON land.parcels, public.places TO ${name}`)
    await client.end()
  })
  after(async () => {
    forwarded?.close()
    for (const { id } of (await ask('GET', 'datasets')).body) await ask('DELETE', `datasets/${id}`)
    await administrator?.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await administrator?.query(`DROP ROLE ${name}`)
    await administrator?.end()
  })

  test('is connected by a connection string, tried, published, and deleted with its datasets', async () => {
    const page = await stage.open('/databases')
    await page.getByRole('button', { name: 'Connect a database' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Land register')
    await dialog.getByText('Connection string', { exact: true }).click()
    const { port } = new URL(forwarded.url)
    const address = `postgresql://${name}:${encodeURIComponent('s3cret/pass')}@127.0.0.1:${port}/${name}?sslmode=disable`
    await dialog.getByLabel('Connection string', { exact: true }).last().fill(address)
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await page.getByText('2 tables').waitFor()
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByText(/Connected in .* · without TLS/).waitFor()
    await page.getByRole('checkbox', { name: 'Publish land.parcels' }).check()
    await page.getByRole('button', { name: 'Publish 1' }).click()
    await page.getByRole('link', { name: 'Open the dataset of land.parcels' }).waitFor()
    await page.getByRole('button', { name: 'Actions for Land register' }).click()
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    const question = page.getByRole('alertdialog')
    await question.getByText(/A dataset uses it: “land\.parcels”/).waitFor()
    await question.getByLabel(/Type “Land register”/).fill('Land register')
    await question.getByRole('button', { name: 'Delete' }).click()
    await question.getByText(/Datasets use this database/).waitFor()
    await question.getByLabel('Delete these datasets and their tile sources too').check()
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('“Land register” is deleted').waitFor()
    assert.equal((await ask('GET', 'datasets?filter[name]=land.parcels')).body.length, 0)
    assertQuiet(page)
    await page.close()
  })
})
