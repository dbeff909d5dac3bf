import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationUsing } from '../http/operation.ts'
import { type BaseServices, defineResource } from './resource.ts'
import { createGenerations, createStores } from './services.ts'

const harbour = defineResource({ name: 'harbours', title: 'Harbour', acl: 'datasets', example: {}, fields: {} })
const ship = defineResource({
  name: 'ships',
  title: 'Ship',
  acl: 'datasets',
  example: {},
  fields: {},
  joins: { harbour: { one: 'Harbour', field: 'harbourId' } },
})

test('a resource is found by its title, with the services that were given', () => {
  const services = {} as BaseServices
  const storeOf = createStores<BaseServices>([harbour, ship])
  assert.deepEqual(storeOf(services, 'Harbour'), { resource: harbour, services })
  assert.throws(() => storeOf(services, 'Lighthouse'), /no resource Lighthouse/)
})

test('a join that names no resource stops the start', () => {
  assert.throws(() => createStores<BaseServices>([ship]), /no resource Harbour/)
})

test('a change of one resource counts for that resource, and for no other server', () => {
  const [ours, theirs] = [createGenerations(), createGenerations()]
  ours.next(ship)
  assert.deepEqual([ours.of(ship), ours.of(harbour), theirs.of(ship)], [1, 0, 0])
})

test('a handler may use only parameters that its path names', async () => {
  const { handle } = operationUsing<{ suffix: string }>()({
    id: 'harbours.berth',
    method: 'GET',
    path: `${harbour.path}/{id}/berths/{number}.json`,
    summary: 'Get a berth',
    access: 'public',
    success: { status: 200, description: 'The berth' },
    async handle({ services }, { params }) {
      // @ts-expect-error: the path has no such parameter
      const { pier } = params
      return { body: [params.id, params.number, pier, services.suffix] }
    },
  })
  const context = { services: { suffix: '!' } } as Parameters<typeof handle>[0]
  const { body } = await handle(context, { params: { id: 'a', number: '7' }, query: {}, body: undefined })
  assert.deepEqual(body, ['a', '7', undefined, '!'])
})
