/** Settings of AWS Lambda from the configuration; undefined without credentials. */
import type { Config } from '../../../kernel/settings/config.ts'
import { readFunctions } from './lambda-functions.ts'

type LambdaConfig = Pick<
  Config,
  | 'AWS_ACCESS_KEY_ID'
  | 'AWS_SECRET_ACCESS_KEY'
  | 'AWS_SESSION_TOKEN'
  | 'AWS_REGION'
  | 'LAMBDA_FUNCTIONS'
  | 'LAMBDA_ENDPOINT'
>

export function lambdaSettings(config: LambdaConfig) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = config
  const functions = readFunctions(config.LAMBDA_FUNCTIONS)
  if (!accessKeyId || !secretAccessKey) return undefined
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  return {
    functions,
    region: config.AWS_REGION,
    credentials,
    ...(config.LAMBDA_ENDPOINT && { endpoint: config.LAMBDA_ENDPOINT }),
  }
}
