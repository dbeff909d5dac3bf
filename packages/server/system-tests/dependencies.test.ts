import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const packages = new URL('../../', import.meta.url).pathname

/** What code that serves loads by name. Types are gone when it runs. */
function importsOf(source: string): string[] {
  const values = source.replaceAll(/^(import|export) type [\w\s*{},$]* from '[^']+'/gm, '')
  const found = values.matchAll(
    /(?:^(?:import|export) (?:[\w\s*{},$]+ from )?|\bimport\(|\bimport\.meta\.resolve\()'([^']+)'/gm,
  )
  return [...found].map(([, name = '']) => name)
}

const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

for (const workspace of ['server', 'agent']) {
  test(`packages/${workspace} declares whatever it loads, so that npm start installs no tools for development`, () => {
    const files = globSync('{src,bin}/**/*.{ts,js}', { cwd: packages + workspace }).filter(
      (file) => !/\.test\.ts$|-arbitrary\.ts$|\/testing\//.test(file),
    )
    const { name: own, dependencies } = JSON.parse(readFileSync(`${packages}${workspace}/package.json`, 'utf8'))
    const undeclared = files.flatMap((file) =>
      importsOf(readFileSync(`${packages}${workspace}/${file}`, 'utf8'))
        .filter((name) => !/^(node:|\.|#|data:)/.test(name))
        .map(packageOf)
        .filter((name) => name !== own && !(name in dependencies))
        .map((name) => `${file}: ${name}`),
    )
    assert.ok(files.length > 10)
    assert.deepEqual(undeclared, [])
  })
}

test('the lockfile records no address of a registry, and serves every platform', () => {
  const { packages: locked } = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'))
  type Locked = { resolved?: string; link?: boolean; os?: string[]; cpu?: string[]; optional?: boolean; dev?: boolean }
  const entries = Object.entries(locked as Record<string, Locked>)
  assert.deepEqual(
    entries.filter(([, { resolved, link }]) => resolved !== undefined && !link).map(([path]) => path),
    [],
  )
  for (const cpu of ['arm64', 'x64']) {
    const native = entries.filter(([, { os, cpu: only, dev }]) => !dev && os?.includes('linux') && only?.includes(cpu))
    assert.ok(
      native.some(([path]) => path.includes('@node-rs/argon2')),
      cpu,
    )
  }
})
