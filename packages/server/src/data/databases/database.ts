import Type from 'typebox'
import { changedOf, demandRepointing } from '../../api/resource/references.ts'
import { defineResource, type Entity, field } from '../../api/resource/resource.ts'
import { invalid } from '../../kernel/errors.ts'
import { driverNames, driverOf } from './drivers.ts'
import { loginFields, passwordAssociatedData } from './login-key.ts'

/** Connection definitions. The password is sealed for one login: moved to another it does not open. */
export const database = defineResource({
  name: 'databases',
  title: 'Database',
  acl: 'databases',
  example: {
    type: 'postgres',
    name: 'Warehouse',
    host: 'warehouse.example.org',
    port: 5432,
    user: 'reader',
    password: 'a password',
    db: 'warehouse',
  },
  fields: {
    type: field('string', Type.Enum([...driverNames], { description: 'The driver' }), { required: true }),
    name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKeptOnReplace: true }),
    host: field('string', Type.String({ maxLength: 255, description: 'A host name or address' }), {
      default: '',
      isKeptOnReplace: true,
    }),
    port: field('integer', Type.Integer({ minimum: 0, maximum: 65_535 }), { default: 5432, isKeptOnReplace: true }),
    user: field('string', Type.String({ maxLength: 255 }), { default: '', isKeptOnReplace: true }),
    password: field('string', Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()]), { mode: 'writeOnly' }),
    passwordSet: field('boolean', Type.Boolean(), { mode: 'readOnly' }),
    connectionString: field(
      'string',
      Type.String({
        maxLength: 3_000,
        description:
          '`postgres://user:password@host:port/db?sslmode=require` in place of host, port, user, password, db ' +
          'and metadata.ssl. It is taken apart and not kept',
      }),
      { mode: 'writeOnly', default: undefined },
    ),
    db: field('string', Type.String({ maxLength: 255, description: 'The name of the database' }), {
      default: '',
      isKeptOnReplace: true,
    }),
    default: field('boolean', Type.Boolean({ description: 'Used where no database is named; one in an application' }), {
      default: false,
      isKeptOnReplace: true,
    }),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare({ values: changes, previous, applicationId, input }, scope, { secrets }) {
    const values = withParts(changes, previous, input)
    const next: Entity = { ...previous, ...values }
    const moved = changedOf(loginFields, previous, values)
    if (previous) demandRepointing(scope, moved, 'databases')
    if (changedOf([...loginFields, 'metadata', 'password'], previous, values).length > 0)
      driverOf(next.type)?.checkRecord(next)
    if (previous?.default && !next.default)
      throw invalid('body/default', 'cannot be taken away: make another database the default instead')
    if (moved.length > 0 && previous?.passwordSet && typeof values.password !== 'string') {
      throw invalid('body/password', 'is required when type, host, port, user or db changes')
    }
    if (typeof values.password !== 'string') return values
    return { ...values, password: secrets.seal(values.password, passwordAssociatedData(applicationId, next)) }
  },
})

const stringParts = ['host', 'port', 'user', 'password', 'db'] as const

/** The drivers that take one. */
const textTypes = driverNames.filter((name) => driverOf(name)?.readConnectionString)

/** The parts of a connection string in the place of the string. */
function withParts({ connectionString, ...values }: Entity, previous: Entity | undefined, input: Entity): Entity {
  if (typeof connectionString !== 'string') return values
  const twice = stringParts.find((name) => input[name] !== undefined)
  if (twice) throw invalid(`body/${twice}`, 'is part of connectionString; give one of the two')
  const read = driverOf(values.type ?? previous?.type)?.readConnectionString
  if (!read) throw invalid('body/connectionString', `is allowed only for type ${textTypes.join(' or ')}`)
  const { fields, metadata } = read(connectionString)
  if (Object.keys(metadata).length === 0) return { ...values, ...fields }
  return { ...values, ...fields, metadata: { ...((values.metadata ?? previous?.metadata) as Entity), ...metadata } }
}
