/**
 * Reference systems that tables of coordinates come in, with what their columns are called and the range that confirms them.
 * `docs/uploads.md` shows this table. A system is taken only if its range holds all values of the sample, and if it is named
 * (`words`), or is the only one that the headings allow (`headings`); otherwise the client gives `sourceSrid`.
 */

/** The manner of headings, by language: they mean the systems of the countries where it is spoken. */
export type HeadingManner =
  /** E, N */
  | 'letters'
  /** easting, northing */
  | 'english'
  /** Rechtswert, Hochwert, Ostwert, X-Koordinate, XKOORD */
  | 'german'
  /** GKODE, GKODN: the Swiss register of buildings */
  | 'swiss'
  /** coordonnée X */
  | 'french'
  /** x-coördinaat */
  | 'dutch'
  /** coordinata X, est/nord */
  | 'italian'
  /** coordenada X, este/norte */
  | 'iberian'

export type Range = readonly [least: number, most: number]

export type CoordinateSystem = {
  readonly srid: number
  readonly title: string
  readonly countries: string
  /** Parts of headings that name it. */
  readonly words: readonly string[]
  readonly headings: readonly HeadingManner[]
  readonly east: Range
  readonly north: Range
}

const system = (
  srid: number,
  title: string,
  countries: string,
  words: string,
  headings: readonly HeadingManner[],
  east: Range,
  north: Range,
): CoordinateSystem => ({ srid, title, countries, words: words.split(' ').filter(Boolean), headings, east, north })

/** Zones of Gauß-Krüger begin with their number; so do those of UTM in some German states. */
const gaussKrueger = [2, 3, 4, 5].map((zone) =>
  system(
    31464 + zone,
    `DHDN / Gauß-Krüger zone ${zone}`,
    'Germany',
    `gk${zone} gk`,
    ['german', 'letters', 'english'],
    [zone * 1e6 + 280_000, zone * 1e6 + 720_000],
    [5_200_000, 6_120_000],
  ),
)

const utm = (zone: number, base: number, title: string, countries: string, words: string, north: Range) =>
  system(base + zone, `${title} / UTM zone ${zone}N`, countries, words, [], [100_000, 950_000], north)

const europeanUtm = [28, 29, 30, 31, 32, 33, 34, 35].map((zone) =>
  utm(
    zone,
    25_800,
    'ETRS89',
    zone < 30 ? 'Spain, Portugal' : zone < 32 ? 'Spain, France' : 'Germany, Denmark, Norway, Italy, Austria, Finland',
    `utm${zone} utm${zone}n etrs89utm${zone} huso${zone} fuso${zone} h${zone} zone${zone} epsg${25_800 + zone}`,
    [2_900_000, 9_400_000],
  ),
)

export const coordinateSystems: readonly CoordinateSystem[] = [
  system(
    2056,
    'CH1903+ / LV95',
    'Switzerland, Liechtenstein',
    'lv95 mn95 ch1903plus',
    ['letters', 'german', 'swiss', 'french', 'italian'],
    [2_480_000, 2_840_000],
    [1_070_000, 1_300_000],
  ),
  system(
    21781,
    'CH1903 / LV03',
    'Switzerland, Liechtenstein',
    'lv03 mn03 ch1903',
    ['letters', 'german', 'swiss'],
    [480_000, 840_000],
    [70_000, 300_000],
  ),
  ...gaussKrueger,
  system(
    4647,
    'ETRS89 / UTM zone 32N with the zone before the easting',
    'Germany',
    'utm32 etrs89',
    ['german', 'letters', 'english'],
    [32_280_000, 32_920_000],
    [5_200_000, 6_120_000],
  ),
  system(
    5650,
    'ETRS89 / UTM zone 33N with the zone before the easting',
    'Germany',
    'utm33 etrs89',
    ['german', 'letters', 'english'],
    [33_100_000, 33_700_000],
    [5_200_000, 6_120_000],
  ),
  ...europeanUtm,
  system(31287, 'MGI / Austria Lambert', 'Austria', 'lambert mgi', [], [100_000, 700_000], [270_000, 600_000]),
  system(31254, 'MGI / Austria GK West', 'Austria', 'm28 gkwest', [], [-90_000, 120_000], [150_000, 310_000]),
  system(
    31255,
    'MGI / Austria GK Central',
    'Austria',
    'm31 gkcentral gkmitte',
    [],
    [-120_000, 120_000],
    [120_000, 410_000],
  ),
  system(31256, 'MGI / Austria GK East', 'Austria', 'm34 gkeast gkost', [], [-140_000, 90_000], [130_000, 440_000]),
  system(
    27700,
    'OSGB36 / British National Grid',
    'Great Britain',
    'osgb osgb36 bng ngr os',
    ['english', 'letters'],
    [0, 700_000],
    [0, 1_300_000],
  ),
  system(
    29903,
    'TM75 / Irish Grid',
    'Ireland',
    'irish irishgrid tm75 ig',
    ['english'],
    [10_000, 370_000],
    [10_000, 470_000],
  ),
  system(
    2157,
    'IRENET95 / Irish Transverse Mercator',
    'Ireland',
    'itm irenet95',
    ['english'],
    [415_000, 770_000],
    [515_000, 970_000],
  ),
  system(
    2193,
    'NZGD2000 / New Zealand Transverse Mercator',
    'New Zealand',
    'nztm nztm2000 nzgd2000',
    ['english'],
    [1_080_000, 2_110_000],
    [4_740_000, 6_200_000],
  ),
  system(
    2154,
    'RGF93 / Lambert-93',
    'France',
    'lambert93 l93 lamb93 rgf93 lambert',
    ['french'],
    [90_000, 1_250_000],
    [6_040_000, 7_120_000],
  ),
  system(
    27572,
    'NTF / Lambert zone II étendu',
    'France',
    'lambert2e lambert2 lamb2 l2e ntf',
    ['french'],
    [0, 1_210_000],
    [1_600_000, 2_700_000],
  ),
  system(
    28992,
    'Amersfoort / RD New',
    'Netherlands',
    'rd rdnew rijksdriehoek rijksdriehoekscoordinaat',
    ['dutch'],
    [0, 300_000],
    [300_000, 625_000],
  ),
  system(
    31370,
    'BD72 / Belgian Lambert 72',
    'Belgium',
    'lambert72 lb72 l72 bd72',
    ['dutch', 'french'],
    [15_000, 300_000],
    [15_000, 250_000],
  ),
  system(
    3812,
    'ETRS89 / Belgian Lambert 2008',
    'Belgium',
    'lambert2008 lambert08 lb08',
    ['dutch', 'french'],
    [515_000, 800_000],
    [515_000, 750_000],
  ),
  system(
    3003,
    'Monte Mario / Italy zone 1',
    'Italy',
    'gaussboaga boaga montemario gb',
    ['italian'],
    [1_290_000, 1_780_000],
    [3_900_000, 5_250_000],
  ),
  system(
    3004,
    'Monte Mario / Italy zone 2',
    'Italy',
    'gaussboaga boaga montemario gb',
    ['italian'],
    [2_290_000, 2_850_000],
    [3_900_000, 5_250_000],
  ),
  system(
    3763,
    'ETRS89 / Portugal TM06',
    'Portugal',
    'tm06 pttm06 etrs89tm06',
    ['iberian'],
    [-130_000, 165_000],
    [-305_000, 280_000],
  ),
  system(3006, 'SWEREF99 TM', 'Sweden', 'sweref99 sweref99tm sweref', [], [250_000, 930_000], [6_100_000, 7_700_000]),
  system(3021, 'RT90 2.5 gon V', 'Sweden', 'rt90', [], [1_180_000, 1_900_000], [6_100_000, 7_700_000]),
  system(
    3067,
    'ETRS89 / TM35FIN',
    'Finland',
    'tm35fin etrstm35fin etrstm35 tm35',
    [],
    [40_000, 770_000],
    [6_570_000, 7_800_000],
  ),
  system(
    2180,
    'ETRF2000-PL / CS92',
    'Poland',
    'puwg92 puwg1992 pl1992 cs92',
    [],
    [140_000, 880_000],
    [120_000, 790_000],
  ),
  system(
    5514,
    'S-JTSK / Krovak East North',
    'Czechia, Slovakia',
    'sjtsk jtsk krovak',
    [],
    [-960_000, -160_000],
    [-1_350_000, -900_000],
  ),
  system(23700, 'HD72 / EOV', 'Hungary', 'eov hd72', [], [420_000, 960_000], [40_000, 370_000]),
  system(
    3857,
    'WGS 84 / Pseudo-Mercator',
    'web maps',
    'epsg3857 3857 webmercator pseudomercator mercator',
    [],
    [-20_037_509, 20_037_509],
    [-20_048_967, 20_048_967],
  ),
]

const knownWords = new Set(coordinateSystems.flatMap(({ words, srid }) => [...words, String(srid), `epsg${srid}`]))

/** Whether a part of a heading names a system. */
export const isSystemWord = (word: string): boolean => knownWords.has(word)
