import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The languages of country names; cities have those of `cityLanguages`. */
const languages = 'ar bg cs da de el es fa fi fr he hi hr hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh'.split(' ')
const cityLanguages = 'ar cs de el es fr he hi hu it ja ko nl pl pt ru sv tr uk zh'.split(' ')

const displayNames = new Map(
  ['en', ...languages].map((lang) => [lang, new Intl.DisplayNames(lang, { type: 'region', fallback: 'none' })]),
)
/** Shorter or more usual than what Unicode has. */
const english: Record<string, string> = {
  BA: 'Bosnia and Herzegovina',
  CD: 'DR Congo',
  CG: 'Congo',
  HK: 'Hong Kong',
  MM: 'Myanmar',
  MO: 'Macao',
  PS: 'Palestine',
}
/** Places that Natural Earth has and ISO has not. */
const withoutCode: Record<string, string> = { 'N. Cyprus': 'Northern Cyprus', Somaliland: 'Somaliland' }

export type Names = Record<string, string>

/** `name` and `name:xx` of a country; undefined if it is no place to label. */
export function countryNames(code: string | undefined, sourceName: string): Names | undefined {
  const region = sourceName === 'Kosovo' ? 'XK' : code
  const name = withoutCode[sourceName] ?? english[region ?? ''] ?? (region && displayNames.get('en')?.of(region))
  if (!name) return undefined
  const others = languages.flatMap((lang) => {
    const translated = region && displayNames.get(lang)?.of(region)
    return translated && translated !== name ? [[`name:${lang}`, translated]] : []
  })
  return { name, 'name:en': name, ...Object.fromEntries(others) }
}

type ZoneNames = { [part: string]: ZoneNames } & { exemplarCity?: string }

/** Names of the cities that time zones are called after, by their English name. */
export async function readCityNames(): Promise<Map<string, Names>> {
  const folder = `${tmpdir()}/graticule-assets/cldr`
  if (!existsSync(folder)) {
    await run('mkdir', ['-p', folder])
    const { stdout } = await run('npm', ['pack', 'cldr-dates-full@48.2.0', '--silent'], { cwd: folder })
    await run('tar', ['-xzf', stdout.trim()], { cwd: folder })
  }
  const cities = new Map<string, Names>()
  const read = async (lang: string): Promise<[string, string][]> => {
    const text = await readFile(`${folder}/package/main/${lang}/timeZoneNames.json`, 'utf8')
    return zonesIn(JSON.parse(text).main[lang].dates.timeZoneNames.zone)
  }
  const own = new Map(await read('en'))
  for (const lang of cityLanguages) {
    for (const [zone, name] of await read(lang)) {
      const city = own.get(zone) ?? zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone
      if (name !== city) cities.set(city, { ...cities.get(city), [`name:${lang}`]: name })
    }
  }
  return cities
}

function zonesIn(node: ZoneNames, path = ''): [string, string][] {
  if (typeof node.exemplarCity === 'string') return [[path, node.exemplarCity]]
  return Object.entries(node).flatMap(([part, inner]) =>
    typeof inner === 'object' ? zonesIn(inner, path ? `${path}/${part}` : part) : [],
  )
}
