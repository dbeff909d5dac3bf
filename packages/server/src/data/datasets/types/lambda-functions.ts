// Allow-list of Lambda functions.
import { type ApiError, invalid, StartError } from '../../../kernel/errors.ts'

type Rule = { readonly applicationId: string | undefined; readonly name: string; readonly isPrefix: boolean }

/** Which functions may be called with the installation's credentials, and by which applications. */
export type FunctionList = readonly Rule[]

/** Parses LAMBDA_FUNCTIONS; the error says what is wrong with it. */
export function readFunctions(text: string): FunctionList {
  const items = text.split(',').map((item) => item.trim())
  return items.filter((item) => item !== '').map(readRule)
}

const form = /^(?:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}):)?([\w-]{0,64})(\*?)$/i

function readRule(item: string): Rule {
  const [, applicationId, name = '', star = ''] = form.exec(item) ?? []
  if (name + star === '') {
    throw new StartError(
      `LAMBDA_FUNCTIONS: "${item}" must be name, prefix*, applicationId:name or applicationId:prefix*.`,
    )
  }
  return { applicationId: applicationId?.toLowerCase(), name, isPrefix: star !== '' }
}

/**
 * Only exact plain names are allowed, in the installation's account and region. An ARN or a qualifier could refer to
 * another account, region or version, so neither is allowed.
 */
export function allowsFunction(list: FunctionList, applicationId: string, name: string): boolean {
  if (!/^[\w-]{1,64}$/.test(name)) return false
  return list.some(
    (rule) =>
      (rule.applicationId ?? applicationId) === applicationId &&
      (rule.isPrefix ? name.startsWith(rule.name) : name === rule.name),
  )
}

export const refusedFunction = (): ApiError =>
  invalid(
    'body/source',
    'must be a function that this application may call: the operator of this server names them in LAMBDA_FUNCTIONS',
  )
