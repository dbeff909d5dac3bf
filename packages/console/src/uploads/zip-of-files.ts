/** A ZIP writer without compression ("stored"), so that sending does not wait for deflate. */
const signature = { entry: 0x04034b50, directory: 0x02014b50, end: 0x06054b50 }
const version = 20
/** General purpose bit 11: names are UTF-8. */
const utf8Names = 0x0800
/** 1 January 1980, the format's earliest date; a constant makes archives of the same files identical. */
const earliestDate = 0x0021
const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value >>> 0
})

export async function zipOfFiles(name: string, files: readonly File[]): Promise<File> {
  const contents: BlobPart[] = []
  const directory: BlobPart[] = []
  let offset = 0
  let directorySize = 0
  for (const file of files) {
    const names = new TextEncoder().encode(file.name)
    const common = commonFields(await crc32(file), file.size, names.length)
    const head = record([[4, signature.entry], ...common])
    const entry = record([
      ...([
        [4, signature.directory],
        [2, version],
      ] as Field[]),
      ...common,
      // No comment, first disk, no attributes.
      ...([
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, offset],
      ] as Field[]),
    ])
    contents.push(head, names, file)
    directory.push(entry, names)
    offset += head.length + names.length + file.size
    directorySize += entry.length + names.length
  }
  const end: Field[] = [
    [4, signature.end],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
  ]
  const tail = record([...end, [4, directorySize], [4, offset], [2, 0]])
  return new File([...contents, ...directory, tail], name, { type: 'application/zip' })
}

type Field = [bytes: 2 | 4, value: number]

const commonFields = (crc: number, size: number, nameLength: number): Field[] => [
  ...([
    [2, version],
    [2, utf8Names],
    [2, 0],
    [2, 0],
    [2, earliestDate],
  ] as Field[]),
  ...([
    [4, crc],
    [4, size],
    [4, size],
    [2, nameLength],
    [2, 0],
  ] as Field[]),
]

function record(fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(fields.reduce((sum, [length]) => sum + length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [length, value] of fields) {
    if (length === 2) view.setUint16(at, value, true)
    else view.setUint32(at, value, true)
    at += length
  }
  return bytes
}

/** Reads in chunks, so that a large file is never whole in memory. */
async function crc32(file: File): Promise<number> {
  let crc = 0xffffffff
  const reader = file.stream().getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    for (const byte of part.value) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
