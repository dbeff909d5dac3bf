import { writeFile } from 'node:fs/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'

const physical = { boolean: 0, int32: 1, int64: 2, double: 5, bytes: 6 } as const
const converted = { text: 0, date: 6, timestampMicros: 10, uint64: 14, json: 19 } as const
const codecs = { none: 0, gzip: 2, zstd: 6 } as const

export type ParquetTestColumn = {
  /** Two names: a member of a group. */
  path: readonly string[]
  type: keyof typeof physical
  converted?: keyof typeof converted
  values: readonly unknown[]
}

type Struct = readonly (readonly [field: number, type: number, value: unknown])[]

const [i32, i64, binary, list, struct] = [5, 6, 8, 9, 12]

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  return Buffer.from([...bytes, Number(rest)])
}

const zigzag = (value: number | bigint) => varint(BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n)))

/** A value in Thrift's compact protocol. */
function thrift(type: number, value: unknown): Buffer {
  if (type === i32 || type === i64) return zigzag(value as number)
  if (type === binary) {
    const bytes = Buffer.from(value as string)
    return Buffer.concat([varint(BigInt(bytes.length)), bytes])
  }
  if (type === list) {
    const [of, items] = value as [number, unknown[]]
    const head =
      items.length < 15
        ? Buffer.from([(items.length << 4) | of])
        : Buffer.concat([Buffer.from([0xf0 | of]), varint(BigInt(items.length))])
    return Buffer.concat([head, ...items.map((item) => thrift(of, item))])
  }
  let before = 0
  const fields = (value as Struct).map(([field, kind, inner]) => {
    const head = Buffer.from([((field - before) << 4) | kind])
    before = field
    return Buffer.concat([head, thrift(kind, inner)])
  })
  return Buffer.concat([...fields, Buffer.from([0])])
}

function plain({ type }: ParquetTestColumn, values: readonly unknown[]): Buffer {
  if (type === 'boolean') {
    const bits = Buffer.alloc(Math.ceil(values.length / 8))
    for (const [index, value] of values.entries())
      if (value) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
    return bits
  }
  return Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(type === 'int32' ? 4 : 8)
      if (type === 'int32') bytes.writeInt32LE(Number(value))
      else if (type === 'int64') bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value as bigint)))
      else if (type === 'double') bytes.writeDoubleLE(Number(value))
      else {
        const raw = typeof value === 'string' ? Buffer.from(value) : (value as Buffer)
        const size = Buffer.alloc(4)
        size.writeUInt32LE(raw.length)
        return Buffer.concat([size, raw])
      }
      return bytes
    }),
  )
}

/** Definition levels of one bit: a run for each value. */
function levels(values: readonly unknown[]): Buffer {
  const groups = Math.ceil(values.length / 8)
  const bits = Buffer.alloc(groups)
  for (const [index, value] of values.entries())
    if (value !== null) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  const body = Buffer.concat([varint(BigInt((groups << 1) | 1)), bits])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(body.length)
  return Buffer.concat([size, body])
}

function compress(codec: keyof typeof codecs, bytes: Buffer): Buffer {
  if (codec === 'none') return bytes
  return codec === 'gzip' ? gzipSync(bytes) : zstdCompressSync(bytes)
}

/** Writes a small Parquet file: every column optional, plain, one page for a row group. */
export async function writeParquet(
  file: string,
  columns: readonly ParquetTestColumn[],
  { geo, codec = 'none', groupRows = 1000 }: { geo?: object; codec?: keyof typeof codecs; groupRows?: number } = {},
): Promise<void> {
  const rows = columns[0]?.values.length ?? 0
  const parts: Buffer[] = [Buffer.from('PAR1')]
  let offset = 4
  const groups: Struct[] = []
  for (let row = 0; row < rows; row += groupRows) {
    const count = Math.min(groupRows, rows - row)
    const chunks: Struct[] = columns.map((column) => {
      const values = column.values.slice(row, row + count)
      const raw = Buffer.concat([
        levels(values),
        plain(
          column,
          values.filter((value) => value !== null),
        ),
      ])
      const body = compress(codec, raw)
      const page: Struct = [
        [1, i32, 0],
        [2, i32, raw.length],
        [3, i32, body.length],
        [
          5,
          struct,
          [
            [1, i32, count],
            [2, i32, 0],
            [3, i32, 3],
            [4, i32, 3],
          ],
        ],
      ]
      const head = thrift(struct, page)
      const meta: Struct = [
        [1, i32, physical[column.type]],
        [2, list, [i32, [0, 3]]],
        [3, list, [binary, column.path]],
        [4, i32, codecs[codec]],
        [5, i64, count],
        [6, i64, head.length + raw.length],
        [7, i64, head.length + body.length],
        [9, i64, offset],
      ]
      parts.push(head, body)
      const at = offset
      offset += head.length + body.length
      return [
        [2, i64, at],
        [3, struct, meta],
      ]
    })
    groups.push([
      [1, list, [struct, chunks]],
      [2, i64, 0],
      [3, i64, count],
    ])
  }
  const footer = thrift(struct, [
    [1, i32, 1],
    [2, list, [struct, schemaOf(columns)]],
    [3, i64, rows],
    [4, list, [struct, groups]],
    ...(geo
      ? [
          [
            5,
            list,
            [
              struct,
              [
                [
                  [1, binary, 'geo'],
                  [2, binary, JSON.stringify(geo)],
                ],
              ],
            ],
          ] as const,
        ]
      : []),
  ])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(footer.length)
  await writeFile(file, Buffer.concat([...parts, footer, size, Buffer.from('PAR1')]))
}

/** Members of a group are required, so that one level tells whether there is a value. */
function schemaOf(columns: readonly ParquetTestColumn[]): Struct[] {
  const tops = [...new Set(columns.map(({ path }) => path[0]))]
  const elements: Struct[] = [
    [
      [4, binary, 'schema'],
      [5, i32, tops.length],
    ],
  ]
  for (const top of tops) {
    const members = columns.filter(({ path }) => path[0] === top)
    const isGroup = members.some(({ path }) => path.length > 1)
    if (isGroup)
      elements.push([
        [3, i32, 1],
        [4, binary, top],
        [5, i32, members.length],
      ])
    for (const { path, type, converted: kind } of members)
      elements.push([
        [1, i32, physical[type]],
        [3, i32, isGroup ? 0 : 1],
        [4, binary, path.at(-1)],
        ...(kind ? [[6, i32, converted[kind]] as const] : []),
      ])
  }
  return elements
}
