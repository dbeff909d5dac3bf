import type { Static, TObject } from 'typebox'
import { validator } from '../http/validate.ts'
import type { CallOperation } from './call-operation.ts'

/** Something a model can ask for. What tenants wrote stands only in results, never in descriptions. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  run(call: CallOperation, input: unknown): Promise<object>
}

type Declaration<S extends TObject> = Omit<Tool, 'input' | 'run'> & {
  input: S
  run(call: CallOperation, input: Static<S>): Promise<object>
}

/** Gives `run` an input that has been checked. */
export function tool<S extends TObject>(declaration: Declaration<S>): Tool {
  const read = validator(declaration.input, 'arguments')
  return { ...declaration, run: async (call, input) => declaration.run(call, read(input ?? {})) }
}
