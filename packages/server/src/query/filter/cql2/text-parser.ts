// Parser of CQL2 text: recursive descent from OR, which binds least, down to literals.
import { show } from '../../values/fault.ts'
import { patternText, stringText } from './lexer.ts'
import { checkDepth, checkLength, countNode, type JsonPath, type Node, refuse } from './syntax.ts'
import {
  advance,
  createReader,
  expectSymbol,
  expectWord,
  here,
  isSymbol,
  isWord,
  nested,
  readItems,
  type TokenReader,
  takeSymbol,
  takeWord,
  unexpected,
} from './token-reader.ts'
import { isGeometryName, opensGeometry, readBoxLiteral, readGeometryLiteral } from './wkt-literal.ts'

/** Parses CQL2 text to its syntax tree. */
export function parseText(text: string, path: string): Node {
  checkLength(text, { path })
  const reader = createReader(text, path)
  const node = readOr(reader)
  if (reader.token.kind !== 'end') throw unexpected(reader, 'AND, OR or the end of the filter')
  return node
}

function call(reader: TokenReader, jsonPath: JsonPath, name: string, ...args: Node[]): Node {
  countNode(reader.budget, jsonPath)
  return { kind: 'call', name, args, jsonPath }
}

/** A chain of one operator is one node, so that a long one is not deep. */
function readChain(reader: TokenReader, word: string, read: (reader: TokenReader) => Node): Node {
  const jsonPath = here(reader)
  const args = [read(reader)]
  while (takeWord(reader, word)) args.push(read(reader))
  const [only] = args
  return args.length === 1 && only ? only : call(reader, jsonPath, word.toLowerCase(), ...args)
}

const readOr = (reader: TokenReader): Node => readChain(reader, 'OR', readAnd)
const readAnd = (reader: TokenReader): Node => readChain(reader, 'AND', readNot)

function readNot(reader: TokenReader): Node {
  const jsonPath = here(reader)
  if (!takeWord(reader, 'NOT')) return readPredicate(reader)
  return call(
    reader,
    jsonPath,
    'not',
    nested(reader, () => readNot(reader)),
  )
}

const comparisons = ['=', '<>', '<=', '>=', '<', '>']

function readPredicate(reader: TokenReader): Node {
  const jsonPath = here(reader)
  const left = readSum(reader)
  if (reader.token.kind === 'symbol' && comparisons.includes(reader.token.text)) {
    return call(reader, jsonPath, advance(reader).text, left, readSum(reader))
  }
  if (takeWord(reader, 'IS')) {
    const isNegated = takeWord(reader, 'NOT')
    expectWord(reader, 'NULL')
    return negatedIf(reader, isNegated, call(reader, jsonPath, 'isnull', left))
  }
  const isNegated = takeWord(reader, 'NOT')
  const predicate = readWordPredicate(reader, jsonPath, left)
  if (predicate) return negatedIf(reader, isNegated, predicate)
  if (isNegated) throw unexpected(reader, 'LIKE, BETWEEN or IN')
  return left
}

const negatedIf = (reader: TokenReader, isNegated: boolean, node: Node): Node =>
  isNegated ? call(reader, node.jsonPath, 'not', node) : node

function readWordPredicate(reader: TokenReader, jsonPath: JsonPath, left: Node): Node | undefined {
  if (takeWord(reader, 'LIKE')) return call(reader, jsonPath, 'like', left, readSum(reader))
  if (takeWord(reader, 'ILIKE')) return call(reader, jsonPath, 'ilike', left, readSum(reader))
  if (takeWord(reader, 'BETWEEN')) {
    const least = readSum(reader)
    expectWord(reader, 'AND')
    return call(reader, jsonPath, 'between', left, least, readSum(reader))
  }
  if (!takeWord(reader, 'IN')) return undefined
  const listPlace = here(reader)
  expectSymbol(reader, '(')
  const items = readItems(reader, () => readSum(reader))
  return call(reader, jsonPath, 'in', left, { kind: 'array', items, jsonPath: listPlace })
}

/** Operators of one rank, from left to right. */
function readLeftToRight(
  reader: TokenReader,
  operatorAt: (reader: TokenReader) => string | undefined,
  read: (reader: TokenReader) => Node,
): Node {
  const jsonPath = here(reader)
  let node = read(reader)
  let depth = reader.depth
  for (let operator = operatorAt(reader); operator !== undefined; operator = operatorAt(reader)) {
    // Each one is a level of the tree.
    checkDepth(++depth, jsonPath)
    advance(reader)
    node = call(reader, jsonPath, operator, node, read(reader))
  }
  return node
}

const readSum = (reader: TokenReader): Node => readLeftToRight(reader, sumOperator, readProduct)
const readProduct = (reader: TokenReader): Node => readLeftToRight(reader, productOperator, readPower)

const sumOperator = ({ token }: TokenReader): string | undefined => symbolOf(token, ['+', '-'])

const productOperator = (reader: TokenReader): string | undefined =>
  isWord(reader, 'DIV') ? 'div' : symbolOf(reader.token, ['*', '/', '%'])

const symbolOf = ({ kind, text }: TokenReader['token'], symbols: readonly string[]): string | undefined =>
  kind === 'symbol' && symbols.includes(text) ? text : undefined

function readPower(reader: TokenReader): Node {
  const jsonPath = here(reader)
  const base = readFactor(reader)
  return takeSymbol(reader, '^') ? call(reader, jsonPath, '^', base, readFactor(reader)) : base
}

function readFactor(reader: TokenReader): Node {
  const jsonPath = here(reader)
  if (takeSymbol(reader, '+')) return readOperand(reader)
  if (!takeSymbol(reader, '-')) return readOperand(reader)
  const operand = readOperand(reader)
  if (operand.kind === 'number') return { ...operand, text: `-${operand.text}`, jsonPath }
  return call(reader, jsonPath, '*', { kind: 'number', text: '-1', jsonPath }, operand)
}

function readOperand(reader: TokenReader): Node {
  const jsonPath = here(reader)
  countNode(reader.budget, jsonPath)
  const { kind, text } = reader.token
  switch (kind) {
    case 'number':
      advance(reader)
      return { kind: 'number', text, jsonPath }
    case 'string':
      advance(reader)
      return { kind: 'string', text: stringText(text), pattern: patternText(text), jsonPath }
    case 'quoted':
      advance(reader)
      return { kind: 'property', name: text, jsonPath }
    case 'name':
      advance(reader)
      return readNamed(reader, text, jsonPath)
    default:
      if (takeSymbol(reader, '(')) return nested(reader, () => readGroup(reader, jsonPath))
      throw unexpected(reader, 'a property, a value or "("')
  }
}

/** Brackets around one expression group it; around none or several, they make an array. */
function readGroup(reader: TokenReader, jsonPath: JsonPath): Node {
  if (takeSymbol(reader, ')')) return { kind: 'array', items: [], jsonPath }
  const items = readItems(reader, () => readOr(reader))
  const [only] = items
  if (items.length > 1 || !only) return { kind: 'array', items, jsonPath }
  return { ...only, brackets: (only.brackets ?? 0) + 1 }
}

/** A keyword, a function, or a property: a name is a keyword only where the grammar has one. */
function readNamed(reader: TokenReader, name: string, jsonPath: JsonPath): Node {
  const upper = name.toUpperCase()
  if (isGeometryName(upper) && opensGeometry(reader)) return readGeometryLiteral(reader, upper, jsonPath)
  if (takeSymbol(reader, '(')) return nested(reader, () => readFunction(reader, name, jsonPath))
  if (upper === 'TRUE' || upper === 'FALSE') return { kind: 'boolean', value: upper === 'TRUE', jsonPath }
  if (upper === 'NULL') throw refuse(jsonPath, 'invalid_syntax', 'NULL equals nothing; use IS NULL or IS NOT NULL')
  return { kind: 'property', name, jsonPath }
}

/** What stands behind `name(`. */
function readFunction(reader: TokenReader, name: string, jsonPath: JsonPath): Node {
  const upper = name.toUpperCase()
  if (upper === 'BBOX') return readBoxLiteral(reader, jsonPath)
  if (upper === 'DATE' || upper === 'TIMESTAMP') return readInstant(reader, upper, jsonPath)
  const args = isSymbol(reader, ')') ? emptyList(reader) : readItems(reader, () => readOr(reader))
  if (upper === 'INTERVAL') return { kind: 'interval', args, jsonPath }
  return call(reader, jsonPath, name.toLowerCase(), ...args)
}

function emptyList(reader: TokenReader): Node[] {
  advance(reader)
  return []
}

function readInstant(reader: TokenReader, name: 'DATE' | 'TIMESTAMP', jsonPath: JsonPath): Node {
  const example = name === 'DATE' ? "DATE('2024-01-31')" : "TIMESTAMP('2024-01-31T12:00:00Z')"
  const { kind, text } = reader.token
  if (kind !== 'string') throw unexpected(reader, `a string as in ${show(example)}`)
  advance(reader)
  expectSymbol(reader, ')')
  return { kind: name === 'DATE' ? 'date' : 'timestamp', text, jsonPath }
}
