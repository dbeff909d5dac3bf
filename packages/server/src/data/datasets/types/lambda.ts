// Datasets of type lambda: an AWS Lambda function that receives the parameters and returns rows.
import { invalid } from '../../../kernel/errors.ts'
import type { DatasetType } from '../dataset-type.ts'
import { memoryType, parameterValues, type ReadAllRows } from '../memory/memory-source.ts'
import { readDeclarations } from '../parameters.ts'
import { invokeLambda } from './lambda-answer.ts'
import { allowsFunction, refusedFunction } from './lambda-functions.ts'

const askLambda: ReadAllRows = async ({ lambda }, dataset, inputs, limits) => {
  if (!lambda) throw invalid('body/type', 'must not be lambda: the operator of this server has set no AWS credentials')
  if (!allowsFunction(lambda.functions, dataset.applicationId, dataset.source)) throw refusedFunction()
  const payload = { parameters: parameterValues(dataset, lambdaType.parameters(dataset), inputs) }
  const body = await invokeLambda({ functionName: dataset.source, payload }, { ...lambda, ...limits })
  return { kind: 'function', body }
}

export const lambdaType: DatasetType = {
  // All declared parameters are sent, because a function's name does not tell which ones it takes.
  parameters: ({ metadata }) => [...readDeclarations(metadata.parameters).keys()],
  ...memoryType(askLambda),
}
