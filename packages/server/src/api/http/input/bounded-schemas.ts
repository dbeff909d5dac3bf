/**
 * Schemas of requests with their bounds: every list has maxItems, every object with free keys maxProperties, every text
 * maxLength, so that whoever checks a value stops early. Values of free form are bounded as a whole, by the limit that
 * `x-bounded-by` names. `bounds.test.ts` refuses a request schema without a bound.
 */
import Type from 'typebox'
import { type LimitName, limits } from '../../../kernel/limits/limits.ts'

const maxKeys = limits.bodyKeys.value

/** The longest text that an address can hold. */
export const maxAddressText = limits.urlBytes.value

type Options = Readonly<Record<string, unknown>>

export const boundedBy = (limit: LimitName) => ({ 'x-bounded-by': limit }) as const

/** Any JSON value. */
export const freeValue = (limit: LimitName, options: Options = {}) => Type.Unknown({ ...boundedBy(limit), ...options })

/** An object with any keys and values. */
export const freeObject = (limit: LimitName, options: Options = {}) =>
  Type.Object({}, { additionalProperties: true, maxProperties: maxKeys, ...boundedBy(limit), ...options })

/** The same, where its values are looked at by their keys. */
export const freeRecord = (limit: LimitName, options: Options = {}) =>
  Type.Record(Type.String(), freeValue(limit), { maxProperties: maxKeys, ...boundedBy(limit), ...options })

/** Of objects whose unknown members are ignored. */
export const ignoringOthers = { maxProperties: 1_000, ...boundedBy('bodyBytes') } as const

/** Names of attributes, each once: as many as the widest table has, or as the operation says. */
export const nameList = (description: string, options: { maxItems?: number; maxLength?: number } = {}) => {
  const { maxItems = limits.names.value, maxLength = 1_000 } = options
  const named = maxItems === limits.names.value ? { 'x-limit': { name: 'names' } } : {}
  return Type.Array(Type.String({ maxLength }), { maxItems, description, ...named })
}

/** Headers of HTTP by their names. */
export const headerRecord = (options: Options = {}) =>
  Type.Record(Type.String({ maxLength: 256 }), Type.String({ maxLength: 8_192 }), { maxProperties: 100, ...options })

export const uuidText = (options: Options = {}) => Type.String({ format: 'uuid', maxLength: 36, ...options })

export const dateTimeText = (options: Options = {}) => Type.String({ format: 'date-time', maxLength: 64, ...options })
