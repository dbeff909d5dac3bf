import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { noFetch, pmtilesOf, pyramid, temporaryDirectory } from '../../../../testing/tile-archives.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { checkArchiveUri } from './archive-uri.ts'
import { openArchive } from './open-archive.ts'

const isInvalid = (error: unknown) => error instanceof ApiError && error.faults[0]?.path === 'body/source'

test('files, remote PMTiles and templates of addresses are archives', () => {
  for (const uri of [
    'mbtiles://a.mbtiles',
    'mbtiles://some folder/über.mbtiles',
    'PMTILES://a/b/c.PMTILES',
    'pmtiles://https://example.com/a.pmtiles?token=1',
    'https://example.com/{z}/{x}/{y}.png',
    'http://example.com/{z}/{x}/{-y}{ratio}.pbf?key=a%20b',
    'https://example.com/{z}/{x}/{y}@2x.webp',
    'https://example.com/tiles.json',
    'https://example.com/styles/light/en.json?key=a',
  ]) {
    checkArchiveUri(uri)
  }
})

test('an archive URI of another scheme or form is refused', () => {
  for (const uri of [
    '',
    'a.mbtiles',
    'file:///etc/passwd',
    'mbtiles:///etc/a.mbtiles',
    'mbtiles://../a.mbtiles',
    'mbtiles://a/../../b.mbtiles',
    'mbtiles://a/./b.mbtiles',
    'mbtiles://a//b.mbtiles',
    'mbtiles://..%2fa.mbtiles',
    'mbtiles://a\\b.mbtiles',
    'mbtiles://C:/a.mbtiles',
    'mbtiles://a.mbtiles\0.mbtiles',
    'mbtiles://a.mbtiles?mode=rwc',
    'mbtiles://a.db',
    'mbtiles://a.mbtiles\n',
    'mbtiles://https://example.com/a.mbtiles',
    'pmtiles://ftp://example.com/a.pmtiles',
    'pmtiles://https://user:secret@example.com/a.pmtiles',
    'pmtiles://https://',
    'https://example.com/a.pmtiles',
    'https://{s}.example.com/{z}/{x}/{y}.png',
    'https://{z}.example.com/{z}/{x}/{y}.png',
    'https://example.com/{z}/{x}.png',
    'https://example.com/{z}/{x}/{y}/{-y}.png',
    'https://example.com/{z}/{x}/{y}/{quadkey}.png',
    'https://example.com/{z}/{x}/{y}/}.png',
    'https://example.com/{z}/{x}/{y}#{z}',
    `https://example.com/{z}/{x}/{y}?${'a'.repeat(3000)}`,
  ]) {
    assert.throws(() => checkArchiveUri(uri), isInvalid, uri)
  }
})

test('a link leads nowhere when it leads out of the files of the application', async (t) => {
  const outside = await temporaryDirectory(t)
  const directory = join(outside, 'tenant')
  await mkdir(join(directory, 'sub'), { recursive: true })
  const archive = pmtilesOf(pyramid(1))
  await writeFile(join(outside, 'secret.pmtiles'), archive)
  await mkdir(join(outside, 'tenant-of-another'))
  await writeFile(join(outside, 'tenant-of-another', 'a.pmtiles'), archive)
  await writeFile(join(directory, 'sub', 'own.pmtiles'), archive)
  await symlink('../secret.pmtiles', join(directory, 'link.pmtiles'))
  await symlink('../tenant-of-another', join(directory, 'folder'))
  await symlink('sub/own.pmtiles', join(directory, 'inner.pmtiles'))
  await mkdir(join(directory, 'directory.pmtiles'))
  for (const name of ['link', 'folder/a', 'none', 'directory', 'sub/own.pmtiles/x']) {
    await assert.rejects(
      openArchive(`pmtiles://${name}.pmtiles`, { files: createDirectoryStore(directory), fetch: noFetch }),
      { code: 'not_found' },
    )
  }
  for (const name of ['inner', 'sub/own']) {
    const opened = await openArchive(`pmtiles://${name}.pmtiles`, {
      files: createDirectoryStore(directory),
      fetch: noFetch,
    })
    assert.ok(await opened.tile(0, 0, 0))
    await opened.close()
  }
})
