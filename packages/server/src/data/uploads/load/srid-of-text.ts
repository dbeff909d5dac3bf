// Recognizes common SRIDs in WKT definitions.
import { sridOfEsriText } from './esri-systems.ts'

/** `AUTHORITY["EPSG","4326"]` of the whole system, not of a component. */
const wholeAuthority = /,\s*(?:AUTHORITY|ID)\s*\[\s*"EPSG"\s*,\s*"?(\d{1,6})"?\s*\]\s*\]\s*$/i

const worldDegrees =
  /^GEOGCS\["(GCS_WGS_1984|WGS 84)",DATUM\["(D_WGS_1984|WGS_1984)",SPHEROID\["(WGS_1984|WGS 84)",6378137(\.0)?,298\.257223563[^\]]*\]\]?[^P]*PRIMEM\["Greenwich",0/i
const worldUtm = /^PROJCS\["WGS_1984_UTM_Zone_(\d{1,2})([NS])",GEOGCS\["GCS_WGS_1984"/i
const webMercator = /^PROJCS\["WGS_1984_Web_Mercator_Auxiliary_Sphere",GEOGCS\["GCS_WGS_1984"/i

/** The SRID of a common reference system: PostGIS transforms much faster by SRID than by text. */
export function sridOfText(text: string): number | undefined {
  const bare = text.trim().replaceAll(/\s*([,[\]])\s*/g, '$1')
  const [, code] = wholeAuthority.exec(bare) ?? []
  if (code !== undefined) return Number(code)
  if (webMercator.test(bare)) return 3857
  if (worldDegrees.test(bare)) return 4326
  const named = sridOfEsriText(bare)
  if (named !== undefined) return named
  const [, zone, half] = worldUtm.exec(bare) ?? []
  if (zone === undefined || Number(zone) < 1 || Number(zone) > 60) return undefined
  return (half?.toUpperCase() === 'N' ? 32_600 : 32_700) + Number(zone)
}
