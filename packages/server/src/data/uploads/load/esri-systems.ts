// Reference systems that ESRI's texts name without a number, as most .prj files do. PostGIS transforms by number as GDAL does, with the shift
// of the datum; by text without it, and its embedded form fails at some.

/** Name, datum's system, projection, and the values of the parameters in the order of their names, as ArcGIS and GDAL write them. */
const systems: Readonly<Record<string, number>> = {
  'ETRS_1989_LAEA|GCS_ETRS_1989|Lambert_Azimuthal_Equal_Area|10 4321000 3210000 52': 3035,
  'ETRS_1989_LCC|GCS_ETRS_1989|Lambert_Conformal_Conic|10 4000000 2800000 52 35 65': 3034,
  'CH1903_LV03|GCS_CH1903|Hotine_Oblique_Mercator_Azimuth_Center|90 600000 200000 46.9524056 7.4395833 1': 21_781,
  'CH1903+_LV95|GCS_CH1903+|Hotine_Oblique_Mercator_Azimuth_Center|90 2600000 1200000 46.9524056 7.4395833 1': 2056,
  'British_National_Grid|GCS_OSGB_1936|Transverse_Mercator|-2 400000 -100000 49 0.9996013': 27_700,
  'RGF_1993_Lambert_93|GCS_RGF_1993|Lambert_Conformal_Conic|3 700000 6600000 46.5 49 44': 2154,
  'DHDN_3_Degree_Gauss_Zone_2|GCS_Deutsches_Hauptdreiecksnetz|Gauss_Kruger|6 2500000 0 0 1': 31_466,
  'DHDN_3_Degree_Gauss_Zone_3|GCS_Deutsches_Hauptdreiecksnetz|Gauss_Kruger|9 3500000 0 0 1': 31_467,
  'DHDN_3_Degree_Gauss_Zone_4|GCS_Deutsches_Hauptdreiecksnetz|Gauss_Kruger|12 4500000 0 0 1': 31_468,
  'DHDN_3_Degree_Gauss_Zone_5|GCS_Deutsches_Hauptdreiecksnetz|Gauss_Kruger|15 5500000 0 0 1': 31_469,
  'MGI_Austria_Lambert|GCS_MGI|Lambert_Conformal_Conic|13.3333333 400000 400000 47.5 49 46': 31_287,
  'MGI_Austria_GK_West|GCS_MGI|Transverse_Mercator|10.3333333 0 -5000000 0 1': 31_254,
  'MGI_Austria_GK_Central|GCS_MGI|Transverse_Mercator|13.3333333 0 -5000000 0 1': 31_255,
  'MGI_Austria_GK_East|GCS_MGI|Transverse_Mercator|16.3333333 0 -5000000 0 1': 31_256,
  'RD_New|GCS_Amersfoort|Double_Stereographic|5.3876389 155000 463000 52.1561606 0.9999079': 28_992,
  'Belge_Lambert_1972|GCS_Belge_1972|Lambert_Conformal_Conic|4.3674867 150000.013 5400088.438 90 51.1666672 49.8333339': 31_370,
  'Belge_Lambert_2008|GCS_ETRS_1989|Lambert_Conformal_Conic|4.3592158 649328 665262 50.797815 49.8333333 51.1666667': 3812,
  'EUREF_FIN_TM35FIN|GCS_ETRS_1989|Transverse_Mercator|27 500000 0 0 0.9996': 3067,
  'SWEREF99_TM|GCS_SWEREF99|Transverse_Mercator|15 500000 0 0 0.9996': 3006,
  'ETRS_1989_Poland_CS92|ETRF2000-PL|Transverse_Mercator|19 500000 -5300000 0 0.9993': 2180,
  'S-JTSK_Krovak_East_North|GCS_S_JTSK|Krovak|30.2881398 0 0 49.5 24.8333333 78.5 0.9999 90 -1 1': 5514,
  'NAD_1983_Contiguous_USA_Albers|GCS_North_American_1983|Albers|-96 0 0 23 29.5 45.5': 5070,
  'NZGD_2000_New_Zealand_Transverse_Mercator|GCS_NZGD_2000|Transverse_Mercator|173 1600000 10000000 0 0.9996': 2193,
  'HTRS96_Croatia_TM|GCS_HTRS96|Transverse_Mercator|16.5 500000 0 0 0.9999': 3765,
  'Slovenia_1996_Slovene_National_Grid|GCS_Slovenia_1996|Transverse_Mercator|15 500000 -5000000 0 0.9999': 3794,
  'Greek_Grid|GCS_GGRS_1987|Transverse_Mercator|24 500000 0 0 0.9996': 2100,
  'Hungarian_1972_Egyseges_Orszagos_Vetuleti|GCS_Hungarian_1972|Hotine_Oblique_Mercator_Azimuth_Center|90 650000 200000 47.1443937 19.0485718 0.99993': 23_700,
  'Estonia_1997_Estonia_National_Grid|GCS_Estonia_1997|Lambert_Conformal_Conic|24 500000 6375000 57.5175539 59.3333333 58': 3301,
  'LKS_1994_Lithuania_TM|GCS_LKS_1994|Transverse_Mercator|24 500000 0 0 0.9998': 3346,
  'LKS_1992_Latvia_TM|GCS_LKS_1992|Transverse_Mercator|24 500000 -6000000 0 0.9996': 3059,
  'Israel_TM_Grid|GCS_Israel|Transverse_Mercator|35.2045169 219529.584 626907.39 31.7343936 1.0000067': 2039,
  'TM65_Irish_Grid|GCS_TM65|Transverse_Mercator|-8 200000 250000 53.5 1.000035': 29_902,
  'IRENET95_Irish_Transverse_Mercator|GCS_IRENET95|Transverse_Mercator|-8 600000 750000 53.5 0.99982': 2157,
}

/** Zones of UTM: the number is that of zone 0 and the zone. */
const zones: Readonly<Record<string, number>> = {
  'ETRS_1989_UTM_Zone_ N|GCS_ETRS_1989': 25_800,
  'NAD_1983_UTM_Zone_ N|GCS_North_American_1983': 26_900,
}
/** Those that have a number: 28 to 38 for Europe, 1 to 23 for North America. */
const hasNumber = (base: number, zone: number): boolean =>
  base === 25_800 ? zone >= 28 && zone <= 38 : zone >= 1 && zone <= 23

/** The number of a projected system that a text names and describes; undefined where either is different. */
export function sridOfEsriText(text: string): number | undefined {
  const [, name = '', datum = ''] = /^PROJCS\["([^"]*)",GEOGCS\["([^"]*)"/.exec(text) ?? []
  const [, projection = ''] = /PROJECTION\["([^"]*)"\]/.exec(text) ?? []
  const [, unit] = /UNIT\["[^"]*",([\d.]+)\]\]$/.exec(text) ?? []
  if (Number(unit) !== 1) return undefined
  const parameters = [...text.matchAll(/PARAMETER\["([^"]*)",([^\]]*)\]/g)]
    .map(([, parameter = '', value]) => [parameter, String(Number(Number(value).toFixed(7)))] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const values = parameters.map(([, value]) => value).join(' ')
  return systems[`${name}|${datum}|${projection}|${values}`] ?? sridOfZone(name, `${datum}|${projection}`, values)
}

function sridOfZone(name: string, rest: string, values: string): number | undefined {
  const [, zone = ''] = /_Zone_(\d{1,2})N$/.exec(name) ?? []
  const base = zones[`${name.replace(/\d+N$/, ' N')}|${rest.replace(/\|Transverse_Mercator$/, '')}`]
  if (base === undefined || !hasNumber(base, Number(zone))) return undefined
  return values === `${6 * Number(zone) - 183} 500000 0 0 0.9996` ? base + Number(zone) : undefined
}
