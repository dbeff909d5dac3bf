// The languages a filter may be written in: our own grammar, CQL2 text and CQL2 JSON. All give the same tree.
import { unknownName } from '../../kernel/nearest-name.ts'
import type { Attributes } from '../values/attribute.ts'
import { fault, show } from '../values/fault.ts'
import { type Cql2Options, parseCql2Json, parseCql2Text } from './cql2/parse.ts'
import { parseFilter } from './filter.ts'
import { allOf, type Filter } from './filter-tree.ts'

export const filterLanguages = ['cql2-text', 'cql2-json'] as const

/** GDAL knows only the name of the predecessor; what it writes is CQL2, too. */
const aliases: Readonly<Record<string, string>> = { 'cql-text': 'cql2-text', 'cql-json': 'cql2-json' }

/** Parses a filter in the language of that name, or in our own grammar if there is none. */
export function parseFilterIn(
  language: string | undefined,
  input: unknown,
  attributes: Attributes,
  options: Cql2Options,
): Filter {
  if (language === undefined) return parseFilter(input, attributes, options.path)
  const name = (Object.hasOwn(aliases, language) ? aliases[language] : undefined) ?? language
  if (name !== 'cql2-text' && name !== 'cql2-json') {
    throw fault('query/filter-lang', 'unknown_language', unknownName('a filter language', language, filterLanguages))
  }
  if (input === undefined || input === '') return allOf([])
  if (name === 'cql2-json') return parseCql2Json(input, attributes, options)
  if (typeof input === 'string') return parseCql2Text(input, attributes, options)
  throw fault(options.path, 'invalid_value', `must be one CQL2 text such as population > 1000000, not ${show(input)}`)
}
