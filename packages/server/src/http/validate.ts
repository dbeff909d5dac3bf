import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { ApiError, type Fault } from '../errors.ts'

/** A function that returns the value typed, or throws a 400 naming every fault. `where` begins the paths. */
export function validator<S extends TSchema>(schema: S, where: string): (value: unknown) => Static<S> {
  // Most processes never see most operations, and a compiled schema is not small.
  let compiled: ReturnType<typeof Compile<S>> | undefined
  return (value) => {
    compiled ??= Compile(schema)
    if (compiled.Check(value)) return value as Static<S>
    const faults = [...compiled.Errors(value)]
      // For an unknown property the schema `false` fails too: one word about it is enough.
      .filter((error) => error.keyword !== 'boolean')
      .flatMap((error) => faultsOf(error, where))
      .slice(0, 20)
    const [first] = faults
    throw new ApiError('invalid_request', first ? `${first.path} ${first.message}` : `The ${where} is not valid.`, {
      faults,
    })
  }
}

type SchemaFault = { keyword: string; instancePath: string; params: object; message: string }

function faultsOf({ keyword, instancePath, params, message }: SchemaFault, where: string): Fault[] {
  const path = where + instancePath
  if (keyword === 'required' && 'requiredProperties' in params) {
    return names(params.requiredProperties).map((name) => ({
      path: `${path}/${name}`,
      code: 'required',
      message: 'is required',
    }))
  }
  if (keyword === 'additionalProperties' && 'additionalProperties' in params) {
    return names(params.additionalProperties).map((name) => ({
      path: `${path}/${name}`,
      code: 'unknown',
      message: 'is not a known property',
    }))
  }
  if (keyword === 'enum' && 'allowedValues' in params) {
    return [{ path, code: keyword, message: `must be one of ${names(params.allowedValues).join(', ')}` }]
  }
  return [{ path, code: keyword, message }]
}

const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
