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
  run(call: CallOperation, input: unknown, services: Services): Promise<object>
}

type Declaration<S extends TObject> = Omit<Tool, 'input' | 'run'> & {
  input: S
  run(call: CallOperation, input: Static<S>, services: Services): Promise<object>
}

/** Gives `run` an input that has been checked. */
export function tool<S extends TObject>(declaration: Declaration<S>): Tool {
  const read = validator(declaration.input, 'arguments')
  return { ...declaration, run: async (call, input, services) => declaration.run(call, read(input ?? {}), services) }
}
