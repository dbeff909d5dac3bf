import { open } from 'node:fs/promises'

/** The first bytes of a file, at most so many. */
export async function readStart(file: string, most: number): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(most), 0, most, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
