import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Type from 'typebox'
import { migratedDatabase } from '../../../testing/database.ts'
import { type Caller, scopeOf } from '../access/acl.ts'
import type { Permissions } from '../access/grants.ts'
import { createSecrets } from '../access/secrets/secrets.ts'
import { loadJoins } from './joins.ts'
import {
  type BaseServices,
  defineResource,
  field,
  type IdentityField,
  type Resource,
  uuidIdentity,
} from './resource.ts'
import { createGenerations, createStores } from './services.ts'
import { insertEntity } from './store.ts'

// Two resources of the test's own: shelves are owned by readers (whose ids are numbers) and hold books.
const numbered: IdentityField = {
  ...uuidIdentity,
  type: 'integer',
  sqlType: 'bigint',
  generate: () => ({ id: Math.floor(Math.random() * 2 ** 52) }),
  key: (id) => (/^\d{1,16}$/.test(id) ? id : undefined),
}
const name = { name: field('string', Type.String(), { required: true }) }
const readers: Resource = defineResource({
  name: 'readers',
  title: 'Reader',
  acl: 'users',
  identity: numbered,
  example: {},
  fields: name,
})
const books: Resource = defineResource({
  name: 'books',
  title: 'Book',
  acl: 'datasets',
  example: {},
  fields: { ...name, shelfId: field('uuid', Type.String()) },
})
const shelves: Resource = defineResource({
  name: 'shelves',
  title: 'Shelf',
  acl: 'databases',
  example: {},
  fields: { ...name, ownerId: field('integer', Type.Integer()) },
  joins: { owner: { one: 'Reader', field: 'ownerId' }, books: { many: 'Book', foreignColumn: 'shelf_id' } },
})

const [mine, theirs] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
const callerOf = (applicationId: string, permissions: Permissions = { '*': { '*': '*' } }): Caller => ({
  keyHash: '',
  type: 'app',
  applicationId,
  everyApplication: false,
  keyExpiresAt: null,
  permissions,
  userId: null,
  bearer: null,
  expiresAt: null,
  allowedOrigins: null,
})

const storeOf = createStores<BaseServices>([readers, books, shelves])
let services: BaseServices
let close: () => Promise<void>
before(async () => {
  const { db, close: closeDatabase } = await migratedDatabase()
  close = closeDatabase
  const secrets = createSecrets('a secret for tests, long enough to be one')
  services = { db, secrets, generations: createGenerations(), storeOf: (title) => storeOf(services, title) }
  const common = `application_id uuid NOT NULL, created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(), revision bigint NOT NULL DEFAULT 1, metadata jsonb NOT NULL DEFAULT '{}',
    name text NOT NULL`
  await db.script(`
    CREATE TABLE svc.readers (id bigint PRIMARY KEY, ${common});
    CREATE TABLE svc.shelves (id uuid PRIMARY KEY, owner_id bigint, ${common});
    CREATE TABLE svc.books (id uuid PRIMARY KEY, shelf_id uuid, ${common});`)
})
after(() => close())

async function insert(resource: Resource, applicationId: string, values: object) {
  const scope = scopeOf(callerOf(applicationId), resource.acl, 'write')
  assert.ok(scope)
  return (await insertEntity({ resource, services }, scope, applicationId, { metadata: {}, ...values })).entity
}

test('joins follow ids of any kind, to one and to many, and stay within the tenant and the ACL', async () => {
  const reader = await insert(readers, mine, { name: 'Ada' })
  const stranger = await insert(readers, theirs, { name: 'Mallory' })
  const full = await insert(shelves, mine, { name: 'full', ownerId: Number(reader.id) })
  const empty = await insert(shelves, mine, { name: 'empty', ownerId: Number(stranger.id) })
  const lost = await insert(shelves, mine, { name: 'lost', ownerId: null })
  await insert(books, mine, { name: 'first', shelfId: full.id })
  const second = await insert(books, mine, { name: 'second', shelfId: full.id })
  await insert(books, theirs, { name: 'smuggled', shelfId: full.id })

  const load = async (permissions?: Permissions) => {
    const entities = [full, empty, lost].map((entity) => ({ ...entity }))
    await loadJoins(services, callerOf(mine, permissions), shelves, entities, ['owner', 'books'])
    return entities.map(({ owner, books }) => ({
      owner: (owner as { name: string } | null)?.name ?? null,
      books: (books as { name: string }[]).map((book) => book.name),
    }))
  }

  assert.deepEqual(await load(), [
    { owner: 'Ada', books: ['first', 'second'] },
    { owner: null, books: [] },
    { owner: null, books: [] },
  ])
  assert.deepEqual((await load({ users: { read: '*' } }))[0], { owner: 'Ada', books: [] })
  assert.deepEqual((await load({ datasets: { read: [String(second.id)] } }))[0], { owner: null, books: ['second'] })
})
