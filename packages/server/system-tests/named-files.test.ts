import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '../../..')
const pathsIn = (document: string): string[] =>
  [...readFileSync(resolve(root, document), 'utf8').matchAll(/`([\w/.-]+\.(?:ts|sql|json))`/g)].map(
    ([, path = '']) => path,
  )

test('every file that the glossary names exists', () => {
  const paths = pathsIn('docs/glossary.md')
  assert.ok(paths.length > 30)
  assert.deepEqual(
    paths.filter((path) => !existsSync(resolve(root, 'packages/server/src', path))),
    [],
  )
})

test('every file that the README of a wing names exists', () => {
  for (const readme of globSync('packages/server/src/*/README.md', { cwd: root })) {
    const paths = pathsIn(readme).filter((path) => path !== 'openapi.json')
    assert.ok(paths.length > 0, readme)
    assert.deepEqual(
      paths.filter((path) => !existsSync(resolve(root, readme, '..', path))),
      [],
      readme,
    )
  }
})

/** Names that stand for a file that the reader adds. */
const placeholder = /NAME|NNNN|harbour/

test('every file that ARCHITECTURE.md and CONTRIBUTING.md name exists', () => {
  const files = globSync('{packages,scripts,docs}/**', { cwd: root, exclude: (name) => name === 'node_modules' })
    .concat(globSync('*.json', { cwd: root }))
    .map((file) => `/${file}`)
  const paths = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap(pathsIn).filter((path) => !placeholder.test(path))
  assert.ok(paths.length > 90)
  assert.deepEqual(
    paths.filter((path) => !files.some((file) => file.endsWith(`/${path}`))),
    [],
  )
})
