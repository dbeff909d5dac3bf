import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import fontnik from 'fontnik'
import { PbfReader } from 'pbf'
import { gzip } from './pmtiles-writer.ts'

const require = createRequire(import.meta.url)
const files = {
  'Noto Sans Regular': '400Regular/NotoSans_400Regular.ttf',
  'Noto Sans Medium': '500Medium/NotoSans_500Medium.ttf',
  'Noto Sans Bold': '700Bold/NotoSans_700Bold.ttf',
  'Noto Sans Italic': '400Regular_Italic/NotoSans_400Regular_Italic.ttf',
}
const lastRange = 65_280

/** Writes the licence and `<font>/<range>.pbf.gz` for each range that the font has glyphs in. */
export async function buildFonts(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await copyFile(require.resolve('@expo-google-fonts/noto-sans/LICENSE_FONT'), `${folder}/OFL.txt`)
  for (const [name, file] of Object.entries(files)) {
    const font = await readFile(require.resolve(`@expo-google-fonts/noto-sans/${file}`))
    await mkdir(`${folder}/${name}`, { recursive: true })
    for (let start = 0; start <= lastRange; start += 256) {
      const end = start + 255
      const glyphs = await new Promise<Uint8Array>((resolve, reject) =>
        fontnik.range({ font, start, end }, (error, bytes) => (error ? reject(error) : resolve(bytes))),
      )
      if (hasGlyphs(glyphs)) await writeFile(`${folder}/${name}/${start}-${end}.pbf.gz`, gzip(glyphs))
    }
  }
}

function hasGlyphs(bytes: Uint8Array): boolean {
  const count = { glyphs: 0 }
  new PbfReader(bytes).readFields((tag, _, stacks) => {
    if (tag === 1) stacks.readMessage((field) => field === 3 && count.glyphs++, undefined)
  }, undefined)
  return count.glyphs > 0
}
