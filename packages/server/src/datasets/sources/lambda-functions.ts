import { type ApiError, invalid, StartError } from '../../errors.ts'

type Rule = { readonly applicationId: string | undefined; readonly name: string; readonly isPrefix: boolean }

/** Which functions may be called with the credentials of the installation, and by whom. */
export type FunctionList = 'any' | readonly Rule[]

/** LAMBDA_FUNCTIONS, or why it cannot be read. */
export function readFunctions(text: string, isProduction: boolean): FunctionList {
  const items = text.split(',').map((item) => item.trim())
  const rules = items.filter((item) => item !== '').map(readRule)
  return rules.length === 0 && !isProduction ? 'any' : rules
}

const form = /^(?:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}):)?([\w-]{0,64})(\*?)$/i

function readRule(item: string): Rule {
  const [, applicationId, name = '', star = ''] = form.exec(item) ?? []
  if (name + star === '') {
    throw new StartError(
      `LAMBDA_FUNCTIONS: "${item}" is no name, prefix*, applicationId:name or applicationId:prefix*.`,
    )
  }
  return { applicationId: applicationId?.toLowerCase(), name, isPrefix: star !== '' }
}

/**
 * A list speaks of plain names in the account and region of the installation, letter by letter. An ARN or a qualifier
 * may lead to another account, region or version, so with a list neither is allowed, whatever it ends in.
 */
export function allowsFunction(list: FunctionList, applicationId: string, name: string): boolean {
  if (list === 'any') return true
  if (!/^[\w-]{1,64}$/.test(name)) return false
  return list.some(
    (rule) =>
      (rule.applicationId ?? applicationId) === applicationId &&
      (rule.isPrefix ? name.startsWith(rule.name) : name === rule.name),
  )
}

export const refusedFunction = (): ApiError =>
  invalid('body/source', 'This installation does not let this application call this function.')
