import type { Static, TObject } from 'typebox'
import { validator } from '../../api/http/input/validate.ts'
import type { CallOperation } from './call-operation.ts'
import type { DatasetEstimate, DatasetSummary } from './dataset.ts'

/** What tools use besides operations. */
export type ToolServices = {
  /** By id; without reading rows. */
  estimates(datasets: readonly DatasetSummary[]): Promise<ReadonlyMap<string, DatasetEstimate>>
}

/** A tool for models. Text of tenants is only in results, never in descriptions (prompt injection). */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  /** Of what `run` returns. */
  readonly output: TObject
  run(call: CallOperation, input: unknown, services: ToolServices): Promise<object>
}

type Declaration<I extends TObject, O extends TObject> = Omit<Tool, 'input' | 'output' | 'run'> & {
  input: I
  output: O
  run(call: CallOperation, input: Static<I>, services: ToolServices): Promise<Static<O>>
}

/** Validates the input of `run`, and its output against the declared schema. */
export function tool<I extends TObject, O extends TObject>(declaration: Declaration<I, O>): Tool {
  const read = validator(declaration.input, 'arguments')
  return { ...declaration, run: async (call, input, services) => declaration.run(call, read(input ?? {}), services) }
}
