import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const written = /function ([A-Z]\w*)(?:<[^(]*>)?\((?:\{[^}]*\}|\w+): \{/g
const unnamedIn = (source: string): string[] => [...source.matchAll(written)].map(([, name = '']) => name)

test('the props of a component are a type with a name, ComponentProps', () => {
  const files = globSync('**/*.tsx', { cwd: import.meta.dirname })
  assert.ok(files.length > 100)
  const found = files.flatMap((file) =>
    unnamedIn(readFileSync(join(import.meta.dirname, file), 'utf8')).map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(found, [])
  for (const planted of [
    'export function Card({ style }: { style: Style }): ReactElement {',
    'function Card({\n  style,\n}: {\n  style: Style\n}): ReactElement {',
    'function Rows<Row>(props: { rows: Row[] }) {',
  ]) {
    assert.equal(unnamedIn(planted).length, 1, planted)
  }
  assert.deepEqual(unnamedIn('function Card({ style }: CardProps): ReactElement {'), [])
})
