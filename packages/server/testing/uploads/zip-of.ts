import { crc32, deflateRawSync } from 'node:zlib'

export type TestZipEntry = {
  name: string
  content?: Buffer
  /** What the archive says instead of the truth. */
  size?: number
  crc?: number
  flags?: number
  mode?: number
  method?: number
  /** Of what was packed one byte is changed here. */
  damageAt?: number
}

/** An archive with entries as honest as they are told to be. */
export function zipOf(entries: readonly TestZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const { name, content = Buffer.from('x'), size, crc, flags = 0x800, mode = 0o100644, ...rest } of entries) {
    const { method = 8, damageAt = -1 } = rest
    const packed = Buffer.from(method === 8 ? deflateRawSync(content) : content)
    if (damageAt >= 0) packed[damageAt] = (packed[damageAt] ?? 0) ^ 0xff
    const title = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc ?? crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(size ?? content.length, 18)
    common.writeUInt16LE(title.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, title, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE((mode << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, tail, title]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, central, end])
}
