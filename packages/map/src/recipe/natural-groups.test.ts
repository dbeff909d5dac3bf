import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ckmeans } from 'simple-statistics'
import { naturalGroups } from './natural-groups.ts'

const spread = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}
const total = (groups: readonly (readonly number[])[]): number => groups.reduce((sum, group) => sum + spread(group), 0)

function divided(sorted: readonly number[], groups: number): number[][] {
  const starts = [0, ...naturalGroups(sorted, groups)]
  return starts.map((start, index) => sorted.slice(start, starts[index + 1]))
}

test('values are divided as well as by the library that others use', () => {
  const anyValue = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double({ min: -1e9, max: 1e9, noNaN: true }))
  fc.assert(
    fc.property(
      fc.array(anyValue, { minLength: 2, maxLength: 60 }),
      fc.integer({ min: 1, max: 10 }),
      (values, wanted) => {
        const sorted = values.toSorted((a, b) => a - b)
        const groups = Math.min(wanted, new Set(sorted).size)
        const made = divided(sorted, groups)
        assert.equal(made.length, groups)
        assert.ok(made.every((group) => group.length > 0))
        const scale = spread(sorted) + 1e-9
        assert.ok(total(made) - total(ckmeans(sorted, groups)) <= 1e-9 * scale)
      },
    ),
  )
})

test('ten thousand values take a moment', () => {
  const sorted = Array.from({ length: 10_000 }, (_, index) => Math.sin(index) ** 3 * 1e6).toSorted((a, b) => a - b)
  const begun = process.cpuUsage()
  assert.equal(naturalGroups(sorted, 10).length, 9)
  assert.ok(process.cpuUsage(begun).user < 2_000_000)
})
