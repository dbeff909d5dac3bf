import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  type CommandEnvironment,
  runCommandLine,
  type ServerProcess,
  startServer,
} from '../../../testing/command-line.ts'
import { externalDatabase, type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { loadConfig } from '../../kernel/settings/config.ts'
import { runBackup, runRestore } from './backup-commands.ts'

const master = 'c7a5a3f0-1111-4222-8333-944445555666'
const passphrase = 'correct horse battery staple'
const isEmbedded = process.env.TEST_DATABASE_URL === undefined

let directory: string
let env: CommandEnvironment
let server: ServerProcess
const databases: (TestDatabase | undefined)[] = []

before(async () => {
  directory = await makeDatabaseDirectory('backups')
  env = {
    PATH: process.env.PATH ?? '',
    PORT: '0',
    LOG_LEVEL: 'silent',
    MASTER_API_KEY: master,
    DATA_DIR: join(directory, 'data'),
    BACKUP_PASSPHRASE: passphrase,
    ...(await databaseOf(testDatabase)),
  }
  server = await startServer(env)
})
after(async () => {
  await server.stop('SIGTERM')
  for (const database of databases) await database?.close()
  await rm(directory, { recursive: true, force: true })
})

async function databaseOf(make: () => Promise<TestDatabase | undefined>): Promise<CommandEnvironment> {
  if (isEmbedded) return {}
  const database = await make()
  databases.push(database)
  return { DATABASE_URL: database?.url ?? '' }
}

/** The same commands without a process of their own; with a file of words a restore only checks. */
function inProcess([command, file]: string[], settings: CommandEnvironment, passphraseFile?: string): Promise<string> {
  const options = { file, passphraseFile, isCheck: passphraseFile !== undefined }
  return (command === 'backup' ? runBackup : runRestore)(loadConfig(settings), options, new AbortController().signal)
}

async function ask(url: string, path: string, init: RequestInit = {}) {
  const headers = { 'x-api-key': master, 'content-type': 'application/json' }
  const reply = await fetch(`${url}/api/v1/${path}`, { ...init, headers })
  assert.ok(reply.ok, await reply.clone().text())
  return reply.json()
}

test('a backup of a running server holds one moment of it, and a server starts on what is restored', async () => {
  let isOver = false
  const create = async () => {
    for (let made = 0; !isOver && made < 40; made++)
      await ask(server.url, 'applications', { method: 'POST', body: `{"name":"app ${made}"}` })
  }
  const creating = create()
  const file = join(directory, 'backup.graticule')
  const done = await runCommandLine(['backup', file], env)
  isOver = true
  await creating
  assert.equal(done.code, 0, done.errors)
  assert.match(done.output, /backup\.graticule: \d+ tables, 0 files, \d+ MB, 1 MB compressed\.\n$/)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual((await readdir(directory)).sort(), ['backup.graticule', 'data'], 'nothing unfinished is left')
  assert.ok(!(await readdir(env.DATA_DIR ?? '')).includes('database-copy'))

  const { MASTER_API_KEY: _, ...settings } = env
  const place: CommandEnvironment = {
    ...settings,
    DATA_DIR: join(directory, 'restored'),
    ...(await databaseOf(externalDatabase)),
  }
  const restored = await runCommandLine(['restore', file], place)
  assert.equal(restored.code, 0, restored.errors)
  assert.match(restored.output, /^Restored: the backup of \S+ by version /)
  const again = await startServer(place)
  try {
    const [applications, keys] = await Promise.all([
      ask(again.url, 'applications?limit=1000'),
      ask(again.url, 'apikeys?limit=1000'),
    ])
    assert.ok(applications.length >= 1)
    for (const { id } of applications) {
      const own = keys.filter(
        (key: { applicationId: string; type: string }) => key.applicationId === id && key.type === 'app',
      )
      assert.equal(own.length, 2, 'an application and its keys are made in one transaction')
    }
  } finally {
    assert.equal(await again.stop('SIGTERM'), 0)
  }
})

test('what is wrong with a file or a passphrase is said, and nothing is made', async () => {
  const file = join(directory, 'backup.graticule')
  const place = { ...env, DATA_DIR: join(directory, 'other') }
  const cases: [string[], CommandEnvironment, RegExp][] = [
    [['backup'], env, /^Give the name of the file/],
    [['backup', file], env, /exists already/],
    [['backup', join(directory, 'new')], { ...env, BACKUP_PASSPHRASE: 'short' }, /at least 12 characters/],
    [['backup', join(directory, 'new')], { ...env, BACKUP_PASSPHRASE: '' }, /Set BACKUP_PASSPHRASE/],
    [['backup', join(directory, 'new')], { ...place, DATABASE_URL: '' }, /nothing to back up/],
    [['restore', join(directory, 'absent')], place, /There is no file/],
    [
      ['restore', file],
      { ...place, BACKUP_PASSPHRASE: 'another passphrase' },
      /passphrase is not the one of this backup/,
    ],
    [['restore', file], env, /replaces nothing/],
  ]
  for (const [args, settings, words] of cases) {
    await assert.rejects(inProcess(args, settings), { name: 'StartError', message: words }, args.join(' '))
  }
  assert.deepEqual((await readdir(directory)).sort(), ['backup.graticule', 'data', 'restored'])
})

test('--check looks at a backup with the passphrase of a file', async () => {
  const words = join(directory, 'words')
  await writeFile(words, `${passphrase}\n`)
  const output = await inProcess(
    ['restore', join(directory, 'backup.graticule')],
    { ...env, BACKUP_PASSPHRASE: '' },
    words,
  )
  assert.match(output, /^Whole: /)
})

test('a disk that is full ends a backup with words, and leaves nothing', async (t) => {
  const disk = join(directory, 'disk')
  await mkdir(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40k', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return t.skip('only root can make a small disk')
  }
  try {
    await assert.rejects(inProcess(['backup', join(disk, 'backup.graticule')], env), /There (is no room|are 1 MB) left/)
    assert.deepEqual(await readdir(disk), [])
  } finally {
    execFileSync('umount', [disk])
  }
})
