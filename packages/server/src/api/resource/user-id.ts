import { randomInt } from 'node:crypto'
import Type from 'typebox'
import { invalid } from '../../kernel/errors.ts'
import { reachesId, type Scope, scopeOf } from '../access/acl.ts'
import { field, type IdentityField } from './resource.ts'

/** User ids are random numbers, which reveal nothing, below 2^53, which JSON numbers hold exactly. */
const digits = /^[1-9]\d{0,15}$/

function readNumber(text: string): number | undefined {
  const number = digits.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

export const newUserId = (): number => randomInt(1, 2 ** 21) * 2 ** 32 + randomInt(2 ** 32)

/** Shown as text in `id`, as numbers where another resource names a user. */
export const userIdentity: IdentityField = {
  schema: Type.String({ pattern: digits.source, description: 'Resource ID: a number in decimal digits' }),
  type: 'integer',
  column: 'id',
  sqlType: 'bigint',
  columns: ['id'],
  queryable: true,
  generate: () => ({ id: newUserId() }),
  key: readNumber,
  read: (row) => String(row.id),
}

const number = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const text = Type.String({ pattern: digits.source, maxLength: 16 })

/** In bodies. */
export const userIdSchema = Type.Union([number, text])

/** A field that refers to a user. Bodies may give the number as text too. */
export const userReference = (mode: 'writable' | 'createOnly') =>
  field('integer', Type.Union([number, Type.Null()]), { mode, input: Type.Union([number, text, Type.Null()]) })

/** The user that a body refers to, if this caller may read it. A foreign key checks that it exists. */
export function readUserReference(value: unknown, path: string, scope: Scope): number | null {
  if (value === null || value === undefined) return null
  const id = readNumber(String(value))
  const isReached = id === scope.ownerId || reachesId(scopeOf(scope.caller, 'users', 'read'), String(id))
  if (id === undefined || !isReached) throw invalid(path, 'must be the id of a user of this application')
  return id
}
