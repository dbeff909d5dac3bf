import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { zipOf } from '../../../../../testing/uploads/zip-of.ts'
import { ReadFault, type UploadErrorCode } from '../reader.ts'
import { unzip, zipLimits } from './zip.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'zip-'))
})
after(() => rm(directory, { recursive: true }))

async function unpack(bytes: Buffer, limits = zipLimits) {
  const file = join(directory, 'archive.zip')
  const target = await mkdtemp(join(directory, 'target-'))
  await writeFile(file, bytes)
  try {
    const files = await unzip(file, target, { limits })
    return await Promise.all(files.map(async ({ name, path }) => [name, await readFile(path, 'utf8')]))
  } catch (error) {
    assert.deepEqual(await readdir(target), [], 'something was left behind')
    throw error
  } finally {
    await rm(target, { recursive: true })
  }
}

const zeros = Buffer.alloc(64 * 1024 * 1024)

test('plain files come out, whatever folder they lie in; litter does not', async () => {
  const files = await unpack(
    zipOf([
      { name: 'a/', content: Buffer.alloc(0), mode: 0o040755 },
      { name: 'a/é.shp', content: Buffer.from('one') },
      { name: 'b/é.shp', content: Buffer.from('two'), method: 0 },
      { name: '__MACOSX/a/._é.shp' },
      { name: 'a/.DS_Store' },
    ]),
  )
  assert.deepEqual(files, [
    ['a/é.shp', 'one'],
    ['b/é.shp', 'two'],
  ])
})

const hostile: Record<string, [Buffer, UploadErrorCode]> = {
  'a bomb': [zipOf([{ name: 'bomb.csv', content: zeros }]), 'zip_limit'],
  'a bomb in parts': [
    zipOf(Array.from({ length: 8 }, (_, part) => ({ name: `${part}.csv`, content: zeros.subarray(0, 8e6) }))),
    'zip_limit',
  ],
  'more than 4 GiB': [
    zipOf([
      { name: 'a.csv', size: 4294967290 },
      { name: 'b.csv', size: 4294967290 },
    ]),
    'zip_limit',
  ],
  'too many entries': [zipOf(Array.from({ length: 1001 }, (_, entry) => ({ name: `${entry}` }))), 'zip_limit'],
  'a path that leads out': [zipOf([{ name: '../evil.shp' }]), 'invalid_zip'],
  'a path that leads out further in': [zipOf([{ name: 'a/../../evil.shp' }]), 'invalid_zip'],
  'an absolute path': [zipOf([{ name: '/etc/evil.shp' }]), 'invalid_zip'],
  'a drive letter': [zipOf([{ name: 'C:evil.shp' }]), 'invalid_zip'],
  'a backslash': [zipOf([{ name: '..\\evil.shp' }]), 'invalid_zip'],
  'a NUL in a name': [zipOf([{ name: 'a.shp\0.txt' }]), 'invalid_zip'],
  'a symbolic link': [zipOf([{ name: 'a.shp', content: Buffer.from('/etc/passwd'), mode: 0o120777 }]), 'invalid_zip'],
  'a device': [zipOf([{ name: 'a.shp', mode: 0o020666 }]), 'invalid_zip'],
  'two of one name': [zipOf([{ name: 'a.shp' }, { name: 'a.shp' }]), 'invalid_zip'],
  'an encrypted entry': [zipOf([{ name: 'a.shp', flags: 0x801 }]), 'zip_encrypted'],
  'an unknown compression': [zipOf([{ name: 'a.shp', method: 99 }]), 'invalid_zip'],
  'an archive within by name': [zipOf([{ name: 'a.zip' }]), 'invalid_zip'],
  'an archive within by content': [zipOf([{ name: 'a.csv', content: zipOf([{ name: 'b.csv' }]) }]), 'invalid_zip'],
  'a size that is too small': [zipOf([{ name: 'a.csv', content: Buffer.alloc(5000, 'x'), size: 10 }]), 'invalid_zip'],
  'a size that is too large': [zipOf([{ name: 'a.csv', content: Buffer.alloc(5000, 'x'), size: 9000 }]), 'invalid_zip'],
  'a wrong checksum': [zipOf([{ name: 'ok.csv' }, { name: 'a.csv', crc: 1 }]), 'invalid_zip'],
  'an archive cut short': [zipOf([{ name: 'a.csv', content: Buffer.alloc(5000, 'x') }]).subarray(0, 60), 'invalid_zip'],
  'no archive at all': [Buffer.from('PK\x03\x04 and nothing else'), 'invalid_zip'],
}

for (const [name, [bytes, code]] of Object.entries(hostile)) {
  test(`${name} is refused, and nothing is left`, async () => {
    await assert.rejects(unpack(bytes), (error) => {
      assert.ok(error instanceof ReadFault, String(error))
      assert.equal(error.code, code, error.message)
      return true
    })
  })
}

test('a file that lies where one is to be written is not overwritten', async () => {
  const target = await mkdtemp(join(directory, 'target-'))
  const outside = join(directory, 'outside')
  await writeFile(outside, 'untouched')
  await symlink(outside, join(target, 'e0'))
  const file = join(directory, 'archive.zip')
  await writeFile(file, zipOf([{ name: 'a.csv' }]))
  await assert.rejects(unzip(file, target))
  assert.equal(await readFile(outside, 'utf8'), 'untouched')
})

test('mutated archives give faults or files, never anything else', async () => {
  const source = zipOf([
    { name: 'a.csv', content: Buffer.from('a,b\n1,2\n'.repeat(50)) },
    { name: 'b.csv', content: Buffer.from('hello'), method: 0 },
  ])
  let seed = 3
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed % below
  }
  for (let round = 0; round < 600; round++) {
    const bytes = Buffer.from(round % 5 === 0 ? source.subarray(0, random(source.length)) : source)
    for (let change = 0; change <= round % 3 && bytes.length; change++) bytes[random(bytes.length)] = random(256)
    await unpack(bytes).catch((error) => assert.ok(error instanceof ReadFault, `round ${round}: ${error?.stack}`))
  }
})
