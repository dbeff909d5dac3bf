// Expressions of filters in PostgreSQL; expression-value.ts is their interpreter in memory.
import { joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { Attribute } from '../values/attribute.ts'
import { baseTypeSql, sqlTypes } from '../values/sql-type.ts'
import { type Folding, foldingMap } from '../values/text-folding.ts'
import {
  type ArithmeticOperator,
  arithmeticRange,
  type Comparison,
  type Expression,
  type ExpressionTest,
  greatestLogarithm,
  isNative,
  type SetOperand,
} from './expression.ts'
import { columnsRelationSql } from './spatial-sql.ts'

/** The SQL expression of an attribute in the current query. */
export type ColumnSql = (attribute: Attribute) => Sql

export const comparisons: { readonly [comparison in Comparison]: Sql } = {
  eq: raw('='),
  lt: raw('<'),
  lte: raw('<='),
  gt: raw('>'),
  gte: raw('>='),
}

/** The test as a boolean expression. */
export function expressionTestSql(test: ExpressionTest, column: ColumnSql): Sql {
  const value = (expression: Expression): Sql => valueSql(expression, column)
  switch (test.test) {
    case 'compare':
      return compareSql(test, column)
    case 'in':
      return sql`${value(test.operand)} = ANY (ARRAY[${joinSql(test.items.map(value), ', ')}])`
    case 'like':
      return sql`${value(test.operand)} LIKE ${test.pattern}::text`
    case 'isNull':
      return sql`${value(test.operand)} IS NULL`
    case 'relate':
      return columnsRelationSql(
        test.relation,
        { attribute: test.left, column: column(test.left) },
        { attribute: test.right, column: column(test.right) },
      )
    case 'sets':
      return setsSql(test, column)
  }
}

/** Two columns whose types only the database knows are compared by it; with any other value their text is. */
function compareSql({ comparison, left, right }: ExpressionTest & { test: 'compare' }, column: ColumnSql): Sql {
  if (isNative(left) && isNative(right)) {
    return sql`${baseTypeSql(column(left.attribute))} ${comparisons[comparison]} ${baseTypeSql(column(right.attribute))}`
  }
  return sql`${valueSql(left, column)} ${comparisons[comparison]} ${valueSql(right, column)}`
}

/** Text is in COLLATE "C": it has the same order on every server, and columns of different collations can be compared. */
function valueSql(expression: Expression, column: ColumnSql): Sql {
  switch (expression.kind) {
    case 'attribute':
      return attributeSql(expression, column)
    case 'literal':
      return sql`${expression.value}::${raw(sqlTypes[expression.type])}`
    case 'fold':
      return foldSql(expression.folding, valueSql(expression.operand, column))
    case 'day':
      return sql`((${valueSql(expression.operand, column)}) AT TIME ZONE 'UTC')::date`
    case 'arithmetic':
      return arithmeticSql(expression, column)
  }
}

function attributeSql({ attribute, type }: Expression & { kind: 'attribute' }, column: ColumnSql): Sql {
  const value = column(attribute)
  if (type === 'string') return sql`(${value})::text COLLATE "C"`
  return type === 'datetime' && attribute.withoutZone ? sql`((${value}) AT TIME ZONE 'UTC')` : sql`(${value})`
}

/** Text of ASCII alone, which most of it is, needs no map. The map is one parameter, because no extension may be needed. */
function foldSql(folding: Folding, text: Sql): Sql {
  const map = JSON.stringify(Object.fromEntries(foldingMap(folding)))
  const ascii = folding === 'accent' ? text : sql`lower(${text})`
  return sql`(CASE WHEN octet_length(${text}) = char_length(${text}) THEN ${ascii} ELSE (
    SELECT string_agg(coalesce(${map}::jsonb ->> character, character), '' ORDER BY place)
    FROM string_to_table(${text}, NULL) WITH ORDINALITY AS characters (character, place)
  ) END) COLLATE "C"`
}

const formulas: { readonly [operator in ArithmeticOperator]: Sql } = {
  '+': raw('a + b'),
  '-': raw('a - b'),
  '*': raw('a * b'),
  '/': raw('a / NULLIF(b, 0)'),
  div: raw('trunc(a / NULLIF(b, 0))'),
  '%': raw('a - b * trunc(a / NULLIF(b, 0))'),
  '^': raw(`CASE
    WHEN a = 0 THEN CASE WHEN b > 0 THEN 0 WHEN b = 0 THEN 1 END
    WHEN (a > 0 OR b = trunc(b)) AND abs(b * ln(abs(a))) < ${greatestLogarithm} THEN power(a, b) END`),
}

/** A subquery, so that each operand is written and computed once. */
function arithmeticSql({ operator, left, right }: Expression & { kind: 'arithmetic' }, column: ColumnSql): Sql {
  const operands = sql`SELECT ${doubleSql(left, column)} AS a, ${doubleSql(right, column)} AS b OFFSET 0`
  return sql`(SELECT ${formulas[operator]} FROM (${operands}) AS operands WHERE ${inRange(raw('a'))} AND ${inRange(raw('b'))})`
}

const inRange = (value: Sql): Sql =>
  sql`(${value} = 0 OR abs(${value}) BETWEEN ${raw(String(arithmeticRange.least))} AND ${raw(String(arithmeticRange.greatest))})`

/** A decimal may be too large for a double, and casting it would fail the query. */
function doubleSql(expression: Expression, column: ColumnSql): Sql {
  const value = valueSql(expression, column)
  if (expression.kind !== 'attribute' || expression.type !== 'number') return sql`(${value})::float8`
  return sql`CASE WHEN ${inRange(value)} THEN ${value}::float8 END`
}

/** Null where one of them is null or no array. */
function setsSql({ relation, left, right }: ExpressionTest & { test: 'sets' }, column: ColumnSql): Sql {
  const sets = sql`SELECT ${arraySql(left, column)} AS a, ${arraySql(right, column)} AS b OFFSET 0`
  const holds = raw(
    relation === 'overlaps'
      ? 'EXISTS (SELECT FROM jsonb_array_elements(a) AS x (item) JOIN jsonb_array_elements(b) AS y (item) ON x.item = y.item)'
      : `NOT EXISTS (SELECT FROM jsonb_array_elements(b) AS y (item)
          WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(a) AS x (item) WHERE x.item = y.item))`,
  )
  return sql`(SELECT ${holds} FROM (${sets}) AS sets WHERE a IS NOT NULL AND b IS NOT NULL)`
}

function arraySql(operand: SetOperand, column: ColumnSql): Sql {
  if ('json' in operand) return sql`${operand.json}::jsonb`
  const { attribute } = operand
  if (attribute.type === 'array') return sql`to_jsonb(${column(attribute)})`
  const value = sql`(${column(attribute)})::jsonb`
  return sql`CASE WHEN jsonb_typeof(${value}) = 'array' THEN ${value} END`
}
