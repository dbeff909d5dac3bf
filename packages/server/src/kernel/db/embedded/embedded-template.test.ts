import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { prepareTemplate, templateDirectory } from './embedded-template.ts'

// One database is enough: the template is a directory, whatever database the tests use.

test('a database template that root has installed can be copied by the user that the server runs as', async () => {
  await prepareTemplate()
  const template = templateDirectory()
  // As PGlite leaves it.
  await chmod(join(template, 'PG_VERSION'), 0o600)
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'embedded-template.ts')])
  const names = await readdir(template, { recursive: true })
  const modes = await Promise.all(names.map(async (name) => (await stat(join(template, name))).mode))
  assert.deepEqual(
    names.filter((_, index) => ((modes[index] ?? 0) & 0o444) !== 0o444),
    [],
  )
})
