import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { driverNames } from './drivers.ts'

// One database is enough: only sources are read.

const packages = join(import.meta.dirname, '../../../../..', 'packages')
const isExempt = /\.test\.tsx?$|^server\/src\/(.*\/)?databases\//
const any = driverNames.join('|')

/** Comments explain, and may name a driver. Strings are matched first, so that a URL in one is no comment. */
const commentOrString = /\/\*[\s\S]*?\*\/|(?<![:\w])\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g
const withoutComments = (source: string): string =>
  source.replace(commentOrString, (found) => (found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : found))

/** What the same words mean elsewhere in the server. */
const otherMeanings = [
  // The kind of the platform's database, beside `embedded`.
  /\bkind\b[^'"`\n]*$/,
  /'embedded' \| $/,
  // A code of errors.ts.
  /\bcode\b[^'"`\n]*$/,
  /\bApiError\(\s*$/,
  // A check of the doctor, called like the engine that it looks at.
  /\bname: $/,
  // Settings of PostgreSQL.
  /\bIntervalStyle = $/,
  /'sslnegotiation', \[$/,
]

/** In the server, driver names that are values: quoted in TypeScript or SQL. */
function namesInServer(source: string): string[] {
  const text = withoutComments(source)
  return [...text.matchAll(new RegExp(`(['"\`])(?:${any})\\1`, 'g'))]
    .filter(({ index }) => !otherMeanings.some((meaning) => meaning.test(text.slice(Math.max(0, index - 80), index))))
    .map(([found]) => found)
}

/** In the console, as any word: a key of a record is a question for the name, too. */
const namesInConsole = (source: string): string[] =>
  [...withoutComments(source).matchAll(new RegExp(`\\b(?:${any})\\b`, 'g'))].map(([found]) => found)

function faultsIn(folder: string, namesIn: (source: string) => string[]): string[] {
  const files = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: packages }).filter((file) => !isExempt.test(file))
  assert.ok(files.length > 100, `${folder} is not where it was`)
  return files.flatMap((file) => namesIn(readFileSync(join(packages, file), 'utf8')).map((name) => `${file}: ${name}`))
}

test('no code of the server outside databases/ asks for the name of a driver', () => {
  assert.deepEqual(faultsIn('server/src', namesInServer), [])
})

test('no code of the console names a driver', () => {
  assert.deepEqual(faultsIn('console/src', namesInConsole), [])
})

test('a question for a name is found in every form, and other meanings of the words are not', () => {
  const planted = [
    `if (record.type === 'internal') return`,
    `database?.type !== "postgres"`,
    'type === `duckdb`',
    "sql`SELECT FROM svc.databases WHERE type = 'internal'`",
    `case 'postgres':`,
    `['internal', dataset.databaseType]`,
    `const path = 'https://example.org' // 'internal' here is a comment\n  if (type === 'duckdb') return`,
    `/** Not here: 'internal'. */\nconst isOwn = type === 'internal'`,
  ]
  for (const source of planted) assert.equal(namesInServer(source).length, 1, source)
  for (const source of [...planted.slice(0, 3), `const labels = { duckdb: 'Files' }`, 'drivers.postgres'])
    assert.equal(namesInConsole(source).length, 1, source)
  const others = [
    `db.kind === 'postgres'`,
    `if (error.code === 'internal') return`,
    `throw new ApiError(\n    'internal',`,
    `// type === 'internal'`,
    `connection.postgres`,
  ]
  for (const source of others) assert.deepEqual(namesInServer(source), [], source)
})
