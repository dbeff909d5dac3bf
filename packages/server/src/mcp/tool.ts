import type { Static, TObject } from 'typebox'
import { validator } from '../http/validate.ts'
import type { CallOperation } from './call-operation.ts'
import type { DatasetSummary, Estimate } from './dataset.ts'

/** What tools need beyond operations. */
export type Services = {
  /** By id; without reading rows. */
  estimates(datasets: readonly DatasetSummary[]): Promise<ReadonlyMap<string, Estimate>>
}

/** Something a model can ask for. What tenants wrote stands only in results, never in descriptions. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  /** Of what `run` returns. */
  readonly output: TObject
  run(call: CallOperation, input: unknown, services: Services): Promise<object>
}

type Declaration<I extends TObject, O extends TObject> = Omit<Tool, 'input' | 'output' | 'run'> & {
  input: I
  output: O
  run(call: CallOperation, input: Static<I>, services: Services): Promise<Static<O>>
}

/** Gives `run` an input that has been checked, and holds it to the output that it declares. */
export function tool<I extends TObject, O extends TObject>(declaration: Declaration<I, O>): Tool {
  const read = validator(declaration.input, 'arguments')
  return { ...declaration, run: async (call, input, services) => declaration.run(call, read(input ?? {}), services) }
}
