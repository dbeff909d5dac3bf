import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from '../../src/kernel/db/sql.ts'
import { connectWorker } from '../agent-worker.ts'
import type { Tenant, TestApp } from '../harness.ts'
import { uploadRecord } from '../uploads/upload-record.ts'
import { type Document, operationAt, resourceOf } from './api-document.ts'
import type { Principal } from './draft.ts'
import { hintFor, placesAnswer, placesTable } from './request-hints.ts'

export type Pool = Awaited<ReturnType<typeof createPool>>

const base = '/api/v1/'

/**
 * What there is for requests to meet: a tenant of their own, a foreign one with the canary in all its texts, and spare
 * records to delete. Each has a name that stands for it in a request as `~name~`.
 */
export async function createPool(app: TestApp, document: Document, canary: string) {
  const names = new Map<string, string>()
  const service = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' }).end(placesAnswer),
  )
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  names.set('rest', `http://127.0.0.1:${(service.address() as AddressInfo).port}`)

  /** The resources whose records can be made and deleted. */
  const paths = new Map(
    Object.keys(document.paths)
      .filter((path) => document.paths[path]?.post && document.paths[`${path}/{id}`]?.delete)
      .map((path) => [resourceOf(path), path]),
  )
  const collections = [...paths.keys()].filter((resource) => resource !== 'appconfig')

  function named(name: string): string {
    const value = names.get(name)
    assert.ok(value, name)
    return value
  }

  /** The text with everything in it that names stand for. */
  function filledIn(text: string): string {
    return text.replace(/~([\w.]+)~/g, (mark, name: string) => {
      const [kind, size] = name.split('.')
      if (kind === 'fresh') return randomUUID()
      if (kind === 'many') return 'a'.repeat(Number(size))
      if (kind === 'deep') return '['.repeat(Number(size)) + ']'.repeat(Number(size))
      if (kind === 'keys')
        return JSON.stringify(Object.fromEntries(Array.from({ length: Number(size) }, (_, at) => [at, at])))
      return names.get(name) ?? mark
    })
  }

  /** Makes the record of this name after the example in the document, or after one of the bodies that fit. */
  async function make(name: string, text: string): Promise<void> {
    const [resource = '', owner, number] = name.split('.')
    if (resource === 'uploads') {
      const applicationId = named(`applications.${owner === 'foreign' ? owner : 'own'}`)
      names.set(name, await uploadRecord(app.db, applicationId, text, metadataWith(text)))
      return
    }
    const path = paths.get(resource) ?? ''
    const entry = operationAt(document, 'POST', path)
    const { schema, example } = entry?.requestBody?.content['application/json'] ?? {}
    const { bodies = [] } = entry ? hintFor(entry) : {}
    const texts = ['name', 'description'].filter((field) => field in (schema?.properties ?? {}))
    const body = {
      ...(example as object),
      ...bodies[Number(number) % bodies.length],
      ...Object.fromEntries(texts.map((field) => [field, text])),
      // Each has a name of its own.
      ...(resource === 'roles' && { name: `${text} ~fresh~` }),
      metadata: metadataWith(text),
    }
    const key = resource === 'applications' ? app.master : named(`key.${owner === 'foreign' ? owner : 'own'}.developer`)
    const reply = await app.call('POST', path, { key, raw: filledIn(JSON.stringify(body)) })
    assert.equal(reply.status, 201, reply.text)
    names.set(name, reply.body.id)
  }

  async function makeSpares(): Promise<void> {
    for (const resource of collections) {
      for (const number of [0, 1, 2, 3]) await make(`${resource}.spare.${number}`, 'Spare')
    }
  }

  async function keepMail(name: string, applicationId: string, text: string): Promise<void> {
    const [row] = await app.db.query(sql`
      INSERT INTO svc.outbox (id, application_id, template, recipients, status)
      VALUES (gen_random_uuid(), ${applicationId}::uuid, 'confirm', ARRAY[${text}], 'kept') RETURNING id`)
    names.set(name, String(row?.id))
  }

  async function configure(key: string, text: string): Promise<void> {
    const reply = await app.call('PUT', `${base}appconfig`, { key, body: { theme: { colour: text }, list: [text] } })
    assert.equal(reply.status, 200, reply.text)
  }

  /** A tenant with something of everything, and in it the text wherever a text can be. */
  async function furnish(owner: 'own' | 'foreign', { id, developer: key, ...tenant }: Tenant, text: string) {
    names.set(`applications.${owner}`, id)
    names.set(`key.${owner}.developer`, key).set(`key.${owner}.public`, tenant.public)
    await app.call('PUT', `${base}applications/${id}/metadata`, { key, body: metadataWith(text) })
    await configure(key, text)
    await app.db.script(placesTable(`app_${id.replaceAll('-', '')}`, text))
    await keepMail(`outbox.${owner}.0`, id, text)
    for (const resource of collections.filter((name) => name !== 'applications')) {
      for (const number of [0, 1, 2]) await make(`${resource}.${owner}.${number}`, text)
    }
  }

  /** One of the agents has a worker, and was asked once. */
  async function serveAgent() {
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    const [agentId, key] = [named('agents.own.0'), named('key.own.developer')]
    const worker = await connectWorker({ url: app.http.listeningOrigin, key, agentId })
    const reply = await app.call('POST', `${base}agents/${agentId}/invoke`, { key, body: { input: 'x' } })
    assert.equal(reply.status, 200, reply.text)
    names.set('invocation', reply.body.invocationId)
    return worker
  }

  /** Placeholders of the ids whose names match, by the resource they are of; as often as they match. */
  function idsOf(...patterns: RegExp[]): Principal['ids'] {
    const known = patterns.flatMap((pattern) => [...names.keys()].filter((name) => pattern.test(name)))
    const ids = Object.groupBy(
      known.map((name) => `~${name}~`),
      (mark) => mark.slice(1).split('.', 1)[0] ?? '',
    )
    const keys = ['theme', 'theme', 'theme.colour', 'list', 'list.0', 'svc.version', 'absent']
    return { ...ids, appconfig: [...(ids.applications ?? []), ...keys] }
  }

  /** Somebody who can log in, with tokens, and somebody who may sign up. */
  async function meetPerson(): Promise<void> {
    const person = await app.user(own.id)
    const { accessToken, refreshToken } = await app.login(person)
    names.set('person.email', person.email).set('person.password', person.password)
    names.set('person.token', accessToken).set('person.refresh', refreshToken)
    names.set('invited.email', (await app.user(own.id, { password: null, emailVerified: false })).email)
  }

  const own = await app.tenant('Own')
  const [home] = (await app.call('GET', `${base}databases`, { key: own.developer })).body
  names.set('databases.home', home.id)
  await furnish('own', own, 'Own')
  await furnish('foreign', await app.tenant(canary), canary)
  // No request changes its record, so that its rows can always be written.
  const table = { type: 'table', name: 'Places', source: 'places', databaseId: home.id }
  const made = await app.call('POST', `${base}datasets`, { key: own.developer, body: table })
  names.set('datasets.home', made.body.id)
  await makeSpares()
  const worker = await serveAgent()
  await keepMail('outbox.spare.0', own.id, 'Spare')
  const onlyOne = [named('styles.own.0')]
  const limited = { styles: { read: onlyOne, write: onlyOne }, appconfig: { execute: '*' as const } }
  names.set('key.limited', await app.key(own.id, limited))
  names.set('key.appending', await app.key(own.id, { datasets: { append: '*' } }))
  names.set('key.master', app.master)
  await meetPerson()

  return {
    names,
    named,
    filledIn,
    idsOf,
    /** Makes the record of this name again, so that the next deletion finds something too. */
    restore: (name: string) => make(name, 'Spare'),
    /** All that requests may have deleted or changed beyond use is there again. */
    async renew() {
      await makeSpares()
      await app.db.query(sql`DELETE FROM svc.login_failures`)
      await meetPerson()
      await configure(own.developer, 'Own')
    },
    async close() {
      worker.kill()
      service.close()
      service.closeAllConnections()
    },
  }
}

const metadataWith = (text: string) => ({ colour: { hex: text }, list: [text] })
