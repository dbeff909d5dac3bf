/** A table with a number and a word a row. */
export function dbfOf(rows: readonly { row: number; word: string }[]): Buffer {
  const header = Buffer.alloc(97)
  header[0] = 3
  header.writeUInt32LE(rows.length, 4)
  header.writeUInt16LE(97, 8)
  header.writeUInt16LE(41, 10)
  header.write('row', 32)
  header.write('N', 43)
  header[48] = 12
  header.write('word', 64)
  header.write('C', 75)
  header[80] = 28
  header[96] = 0x0d
  const records = rows.map(({ row, word }) => ` ${String(row).padStart(12)}${word.padEnd(28)}`)
  return Buffer.concat([header, Buffer.from(records.join('')), Buffer.from([0x1a])])
}
