import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { type Fault, faulty } from '../../../kernel/errors.ts'
import { oversized } from './schema-bounds.ts'
import { exceededLimit, type SchemaError, schemaFaults } from './schema-faults.ts'

// The default of eight is too low: one failed union alone takes three.
Settings.Set({ maxErrors: 200 })

/** A function that returns the value typed, or throws a 400 naming the first faults. `where` begins the paths. */
export function validator<S extends TSchema>(schema: S, where: string): (value: unknown) => Static<S> {
  // Compiled lazily: most processes never use most operations, and a compiled schema is large.
  let compiled: ReturnType<typeof Compile<S>> | undefined
  return (value) => {
    compiled ??= Compile(schema)
    if (compiled.Check(value)) return value as Static<S>
    const tooLarge = oversized(schema, value, where)
    if (tooLarge.faults.length > 0) throw faulty(tooLarge.faults, 'invalid_request', tooLarge.limit)
    const errors = compiled.Errors(value) as SchemaError[]
    const faults = schemaFaults({ schema, value, where }, errors)
    throw faulty(faults.length > 0 ? faults : [unexplained(where)], 'invalid_request', exceededLimit(schema, errors))
  }
}

const unexplained = (path: string): Fault => ({ path, code: 'invalid', message: 'is not valid' })
