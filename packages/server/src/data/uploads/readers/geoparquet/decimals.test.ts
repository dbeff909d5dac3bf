import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readLayer } from '../../../../../testing/uploads/read-back.ts'
import { planTable } from '../../load/table-plan.ts'
import { openReader } from '../open-reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'decimals-'))
})
after(() => rm(directory, { recursive: true }))

/** Written by pyarrow: decimal128(9,2), (26,6), (16,0), a timestamp of nanoseconds, and a structure with a decimal. */
const files = {
  'decimals as integers where they fit':
    'UEFSMRUAFRwVLiwVBhUAFQYVBhwAAAAotS/9IA5xAAACAAAAAwMVzVsH+////xUAFU4VWCwVBhUAFQYVBhwAAAAotS/9ICcdAQDoAgAAAAYBCjZMmCJ+qmrcusCtSC0jN/MtHAAAAQABAG3ACRUAFSwVPiwVBhUAFQYVBhwAAAAotS/9IBaxAAACAAAAAwXAuoo81WIEAP//////////FQAVLBU+LBUGFQAVBhUGHAAAACi1L/0gFrEAAAIAAAADAxXNwAgXEKYXAMrACBcQphcVABU6FUwsFQYVABUGFQYcAAAAKLUv/SAd6QAAAwAAAAMiAAAAAAAAAR9x+wRQAAAAAAAAAAABhqAVBBl8NQAYBnNjaGVtYRUKABUCJQIYBXByaWNlJQoVBBUSLFwVBBUSAAAAFQ4VFhUCGARsb25nJQoVDBU0LFwVDBU0AAAAFQQlAhgCaWQlChUAFSAsXBUAFSAAAAAVBCUCGARuYW5vbIwSHDwAAAAAADUCGAZuZXN0ZWQVAgAVDhUWFQIYAWElChUMFTQsXBUMFTQAAAAWBhkcGVwmABwVAhklBgAZGAVwcmljZRUMFgYWQhZUJghJHBUAFQAVAgA8KQYZJgIEAAAAJgAcFQ4ZJQYAGRgEbG9uZxUMFgYWdBZ+JlxJHBUAFQAVAgA8KQYZJgAGAAAAJgAcFQQZJQYAGRgCaWQVDBYGFlIWZCbaAUkcFQAVABUCADwpBhkmAgQAAAAmABwVBBklBgAZGARuYW5vFQwWBhZSFmQmvgJJHBUAFQAVAgA8KQYZJgIEAAAAJgAcFQ4ZJQYAGSgGbmVzdGVkAWEVDBYGFmAWciaiA0kcFQAVABUCADwpBhk2AgAEAAAAFroDFgYmCBaMBAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGVwcAAAcAAAcAAAcAAAcAAAAwwEAAFBBUjE=',
  'decimals as bytes':
    'UEFSMRUAFRwVLiwVBhUAFQYVBhwAAAAotS/9IA5xAAACAAAAAwMHW80V////+xUAFU4VWCwVBhUAFQYVBhwAAAAotS/9ICcdAQDoAgAAAAYBCjZMmCJ+qmrcusCtSC0jN/MtHAAAAQABAG3ACRUAFSgVOiwVBhUAFQYVBhwAAAAotS/9IBShAAACAAAAAwUEYtU8irrA/////////xUAFSwVPiwVBhUAFQYVBhwAAAAotS/9IBaxAAACAAAAAwMVzcAIFxCmFwDKwAgXEKYXFQAVOhVMLBUGFQAVBhUGHAAAACi1L/0gHekAAAMAAAADIgAAAAAAAAEfcfsEUAAAAAAAAAAAAYagFQQZfDUAGAZzY2hlbWEVCgAVDhUIFQIYBXByaWNlJQoVBBUSLFwVBBUSAAAAFQ4VFhUCGARsb25nJQoVDBU0LFwVDBU0AAAAFQ4VDhUCGAJpZCUKFQAVICxcFQAVIAAAABUEJQIYBG5hbm9sjBIcPAAAAAAANQIYBm5lc3RlZBUCABUOFRYVAhgBYSUKFQwVNCxcFQwVNAAAABYGGRwZXCYAHBUOGSUGABkYBXByaWNlFQwWBhZCFlQmCEkcFQAVABUCADwpBhkmAgQAAAAmABwVDhklBgAZGARsb25nFQwWBhZ0Fn4mXEkcFQAVABUCADwpBhkmAAYAAAAmABwVDhklBgAZGAJpZBUMFgYWThZgJtoBSRwVABUAFQIAPCkGGSYCBAAAACYAHBUEGSUGABkYBG5hbm8VDBYGFlIWZCa6AkkcFQAVABUCADwpBhkmAgQAAAAmABwVDhklBgAZKAZuZXN0ZWQBYRUMFgYWYBZyJp4DSRwVABUAFQIAPCkGGTYCAAQAAAAWtgMWBiYIFogEACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZXBwAABwAABwAABwAABwAAADHAQAAUEFSMQ==',
}

for (const [name, content] of Object.entries(files)) {
  test(`Parquet with ${name} keeps all digits, and says what it cannot keep`, async () => {
    const file = join(directory, 'decimals.parquet')
    await writeFile(file, Buffer.from(content, 'base64'))
    const { signal } = new AbortController()
    const reader = await openReader(file, { fileName: 'a.parquet', directory, signal, allowNativeGdal: false })
    const { scanned, rows } = await readLayer(reader, 'a')
    await reader.close()
    assert.deepEqual(
      rows.map(({ properties: { price, long, id } }) => [price, long, id]),
      [
        ['1234567.89', '12345678901234567890.123456', '1234567890123456'],
        ['-0.05', '-99999999999999999999.999999', null],
        [null, '0.000000', '-1'],
      ],
    )
    assert.deepEqual(
      planTable(scanned, {}).columns.map(({ type }) => type),
      ['bigint', 'numeric(9,2)', 'numeric(26,6)', 'numeric(16,0)', 'timestamp', 'jsonb'],
    )
    assert.deepEqual(
      scanned.warnings.map(({ code }) => code),
      ['rounded_numbers', 'cut_times'],
    )
  })
}
