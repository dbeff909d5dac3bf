/** The size of a JPEG file, from its frame header: enough to know that it is one, without decoding it. */
export type PictureSize = { readonly width: number; readonly height: number }

const startOfImage = 0xffd8
const endOfImage = 0xffd9
const startOfScan = 0xffda
/** Baseline, extended and progressive frames; the markers between them (0xc4, 0xc8, 0xcc) are tables. */
const frames = new Set([0xffc0, 0xffc1, 0xffc2])
const markerBytes = 2

/** Undefined for what is no whole JPEG. */
export function jpegSize(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== startOfImage) return undefined
  if (bytes.readUInt16BE(bytes.length - markerBytes) !== endOfImage) return undefined
  for (let at = markerBytes; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at)
    if (marker < 0xff00 || marker === startOfScan) return undefined
    if (frames.has(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += markerBytes + bytes.readUInt16BE(at + markerBytes)
  }
  return undefined
}
