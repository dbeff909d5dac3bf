// Expressions of filters: what is compared where it is not simply an attribute with a value.
import type { SpatialRelation } from '../geometry/relation/relation.ts'
import type { Attribute, ScalarAttribute, ScalarType } from '../values/attribute.ts'
import type { Folding } from '../values/text-folding.ts'

/**
 * A scalar expression, interpreted by expression-sql.ts and expression-value.ts with the same result. Arithmetic is that
 * of doubles; it gives null where the result is not a number, and for operands beyond `arithmeticRange`.
 */
export type Expression =
  | { readonly kind: 'attribute'; readonly type: ScalarType; readonly attribute: ScalarAttribute }
  /** Canonical text as in filter-tree.ts. */
  | { readonly kind: 'literal'; readonly type: ScalarType; readonly value: string | null }
  | { readonly kind: 'fold'; readonly type: 'string'; readonly folding: Folding; readonly operand: Expression }
  /** The date of an instant in UTC. */
  | { readonly kind: 'day'; readonly type: 'date'; readonly operand: Expression }
  | {
      readonly kind: 'arithmetic'
      readonly type: 'number'
      readonly operator: ArithmeticOperator
      readonly left: Expression
      readonly right: Expression
    }

/** An attribute that its database compares in the column's own type. */
export const isNative = (expression: Expression): expression is Expression & { readonly kind: 'attribute' } =>
  expression.kind === 'attribute' && expression.attribute.isNative === true

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | 'div' | '^'

export type Comparison = 'eq' | 'lt' | 'lte' | 'gt' | 'gte'

/** A test of expressions: a leaf of the filter tree, for tests that its simple leaves cannot say. */
export type ExpressionTest =
  | { readonly test: 'compare'; readonly comparison: Comparison; readonly left: Expression; readonly right: Expression }
  | { readonly test: 'in'; readonly operand: Expression; readonly items: readonly Expression[] }
  | { readonly test: 'like'; readonly operand: Expression; readonly pattern: string }
  | { readonly test: 'isNull'; readonly operand: Expression }
  | { readonly test: 'relate'; readonly relation: SpatialRelation; readonly left: Attribute; readonly right: Attribute }
  | { readonly test: 'sets'; readonly relation: SetRelation; readonly left: SetOperand; readonly right: SetOperand }

/** Arrays are compared as sets of JSON values. */
export type SetRelation = 'contains' | 'overlaps'
export type SetOperand = { readonly attribute: Attribute } | { readonly json: string }

/**
 * The magnitudes that arithmetic takes, besides zero: no sum, product or quotient of two of them is more or less than a
 * double can hold, for which PostgreSQL would fail the whole query.
 */
export const arithmeticRange = { least: 1e-150, greatest: 1e150 }

/** The greatest natural logarithm of a power, for the same reason. */
export const greatestLogarithm = 690

/** The attributes that a test reads. */
export function attributesOfTest(test: ExpressionTest): Attribute[] {
  switch (test.test) {
    case 'compare':
      return [...attributesOf(test.left), ...attributesOf(test.right)]
    case 'in':
      return [test.operand, ...test.items].flatMap(attributesOf)
    case 'like':
    case 'isNull':
      return attributesOf(test.operand)
    case 'relate':
      return [test.left, test.right]
    case 'sets':
      return [test.left, test.right].flatMap((operand) => ('attribute' in operand ? [operand.attribute] : []))
  }
}

function attributesOf(expression: Expression): Attribute[] {
  switch (expression.kind) {
    case 'attribute':
      return [expression.attribute]
    case 'literal':
      return []
    case 'arithmetic':
      return [...attributesOf(expression.left), ...attributesOf(expression.right)]
    default:
      return attributesOf(expression.operand)
  }
}
