import { invalid } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { show } from '../../../query/values/fault.ts'
import { type AttributeDto, attributesOf } from '../attribute-dto.ts'
import { isVariable, looksVariable } from './caller-values.ts'
import type { Rule } from './rule.ts'
import { checkRuleFilter } from './rule-filter.ts'

type Described = {
  readonly attributes: readonly AttributeDto[]
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Throws a 400 for rules that name what the dataset does not have, or that could never hold. */
export function checkRules(rules: readonly Rule[], { attributes, metadata }: Described): void {
  const known = attributesOf({ attributes, metadata, databaseType: '' })
  const demandKnown = (name: string, path: string): void => {
    if (!known.has(name)) throw invalid(path, unknownName('an attribute', name, known.keys()))
  }
  for (const [index, { where, attributes: shown = [], set = {}, levels }] of rules.entries()) {
    const path = `body/rules/${index}`
    checkRuleFilter(where, known, `${path}/where`)
    for (const [place, name] of shown.entries()) demandKnown(name, `${path}/attributes/${place}`)
    for (const [name, value] of Object.entries(set)) {
      const at = `${path}/set/${name.slice(0, 100)}`
      demandKnown(name, at)
      if (looksVariable(value) && !isVariable(value))
        throw invalid(at, `must be a value, or one of the caller such as $user.id, not ${show(value)}`)
    }
    const isWritten = levels.includes('append') || levels.includes('change')
    if (Object.keys(set).length > 0 && !isWritten)
      throw invalid(`${path}/set`, 'is only for the levels append and change')
  }
}
