import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderRefusal, readDropped } from './dropped-files.ts'

const item = (name: string, isDirectory: boolean) => ({
  kind: 'file',
  webkitGetAsEntry: () => ({ isDirectory, name }),
  getAsFile: () => new File(['x'], name),
})

test('of what is dropped, files are taken and folders are named', () => {
  const items = [item('roads.gpkg', false), item('parcels.gdb', true), { kind: 'string' }]
  const { files, folders } = readDropped({ items, files: [] } as unknown as DataTransfer)
  assert.deepEqual(
    files.map(({ name }) => name),
    ['roads.gpkg'],
  )
  assert.deepEqual(folders, ['parcels.gdb'])
  assert.match(folderRefusal('parcels.gdb').message, /is a folder\. Zip it/)
})
