import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Resvg } from '@resvg/resvg-js'
import potpack from 'potpack'
import { aliases, drawings } from './icon-names.ts'

const require = createRequire(import.meta.url)
const themes = {
  light: { ink: '#4b5563', halo: '#ffffff', colours: 'light' },
  dark: { ink: '#d1d5db', halo: '#1b1d22', colours: 'dark' },
} as const
type Theme = keyof typeof themes
type Icon = { name: string; width: number; height: number; svg: string }
type SpriteBox = Icon & { w: number; h: number; x: number; y: number }

/** Writes `light` and `dark` sheets with their indexes, at one and two pixels a point. */
export async function buildSprites(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const maki = await readMaki()
  for (const theme of Object.keys(themes) as Theme[]) {
    const placed = arrange([...makiIcons(maki, theme), ...drawings(themes[theme])])
    for (const ratio of [1, 2]) {
      const name = `${folder}/${theme}${ratio === 2 ? '@2x' : ''}`
      await writeFile(`${name}.png`, sheet(placed, ratio))
      await writeFile(`${name}.json`, `${JSON.stringify(index(placed, ratio), null, 2)}\n`)
    }
  }
}

async function readMaki(): Promise<Map<string, string>> {
  const folder = `${dirname(require.resolve('@mapbox/maki/package.json'))}/icons`
  const files = (await readdir(folder)).filter((file) => file.endsWith('.svg')).sort()
  const texts = files.map(async (file) => [file.slice(0, -4), await readFile(`${folder}/${file}`, 'utf8')] as const)
  return new Map(await Promise.all(texts))
}

/** A Maki icon has 15 points; the halo needs two more on each side. */
const size = 19

function makiIcons(maki: ReadonlyMap<string, string>, theme: Theme): Icon[] {
  const names = [...[...maki.keys()].map((name) => [name, name] as const), ...Object.entries(aliases)]
  return names.map(([name, source]) => {
    const svg = maki.get(source)
    if (!svg) throw new Error(`Maki has no icon ${source}`)
    const shape = svg.replace(/<\?xml[^>]*>/, '').replace(/^[\s\S]*?<svg[^>]*>|<\/svg>\s*$/g, '')
    return { name, width: size, height: size, svg: coloured(shape, theme, name) }
  })
}

function coloured(shape: string, theme: Theme, name: string): string {
  const { ink, halo, colours } = themes[theme]
  const fill = colourOf(name, colours) ?? ink
  const bare = shape.replaceAll(/\s(id|fill|stroke|class|style)="[^"]*"/g, '')
  const outline = `<g fill="${halo}" stroke="${halo}" stroke-width="2.6" stroke-linejoin="round">${bare}</g>`
  return `<g transform="translate(2 2)">${outline}<g fill="${fill}">${bare}</g></g>`
}

const groups: { names: RegExp; light: string; dark: string }[] = [
  {
    names: /^(mountain|volcano|peak|park|park-alt1|forest|garden|beach|zoo|natural|national_park|nature_reserve)$/,
    light: '#20834d',
    dark: '#30c573',
  },
  {
    names:
      /^(airport|airfield|aerodrome|rail.*|train_station|station|bus|bus_stop|ferry|ferry_terminal|harbor|marina|heliport)$/,
    light: '#315bcf',
    dark: '#6f93ff',
  },
  { names: /^(restaurant.*|fast[-_]food|cafe|bar|beer|bakery|teahouse|ice-cream)$/, light: '#cb6704', dark: '#f19b6e' },
  {
    names: /^(attraction|museum|theatre|artwork|art-gallery|monument.*|castle.*|historic|landmark.*|viewpoint)$/,
    light: '#c2358f',
    dark: '#ef7ac8',
  },
  { names: /^(hospital.*|doctor|pharmacy|defibrillator|blood-bank|clinic)$/, light: '#d1345b', dark: '#f2567a' },
  {
    names: /^(shop|supermarket|grocery|convenience|clothes|clothing-store|books|electronics|beauty|mall)$/,
    light: '#1a7fae',
    dark: '#4299bb',
  },
]

const colourOf = (name: string, colours: 'light' | 'dark'): string | undefined =>
  groups.find(({ names }) => names.test(name))?.[colours]

function arrange(icons: readonly Icon[]): { boxes: SpriteBox[]; width: number; height: number } {
  const boxes = icons.map((icon) => ({ ...icon, w: icon.width + 1, h: icon.height + 1, x: 0, y: 0 }))
  const { w, h } = potpack(boxes)
  return { boxes, width: w, height: h }
}

function sheet({ boxes, width, height }: ReturnType<typeof arrange>, ratio: number): Buffer {
  const parts = boxes.map(
    ({ x, y, width: w, height: h, svg }) => `<svg x="${x}" y="${y}" width="${w}" height="${h}">${svg}</svg>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${parts.join('')}</svg>`
  const font = { loadSystemFonts: false }
  return new Resvg(svg, { fitTo: { mode: 'zoom', value: ratio }, font }).render().asPng()
}

function index({ boxes }: ReturnType<typeof arrange>, ratio: number): object {
  const sorted = boxes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(
    sorted.map(({ name, x, y, width, height }) => [
      name,
      { x: x * ratio, y: y * ratio, width: width * ratio, height: height * ratio, pixelRatio: ratio },
    ]),
  )
}
