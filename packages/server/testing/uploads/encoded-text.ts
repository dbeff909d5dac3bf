import { decoderOf } from '../../src/data/uploads/readers/text/code-pages.ts'

const doubleByte = /^(shift_jis|euc-jp|gbk|big5|euc-kr)$/
const tables = new Map<string, Map<string, Buffer>>()

/** The text in an encoding that Node reads but does not write. */
export function encodedText(text: string, encoding: string): Buffer {
  const table = tables.get(encoding) ?? tableOf(encoding)
  tables.set(encoding, table)
  return Buffer.concat(
    [...text].map((character) => {
      const bytes = table.get(character)
      if (!bytes) throw new Error(`${encoding} has no ${character}.`)
      return bytes
    }),
  )
}

function tableOf(encoding: string): Map<string, Buffer> {
  const decode = decoderOf(encoding)
  const table = new Map<string, Buffer>()
  const note = (bytes: Buffer): void => {
    const character = decode(bytes)
    if ([...character].length === 1 && character !== '\ufffd' && !table.has(character)) table.set(character, bytes)
  }
  for (let byte = 0; byte < 256; byte++) note(Buffer.from([byte]))
  if (!doubleByte.test(encoding)) return table
  for (let lead = 0x81; lead < 0xff; lead++)
    for (let trail = 0x40; trail < 0xff; trail++) note(Buffer.from([lead, trail]))
  return table
}
