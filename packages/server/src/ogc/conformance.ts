// The conformance classes that hold, and no others: official and our own tests try each.

const common = [
  'ogcapi-common-1/1.0/conf/core',
  'ogcapi-common-1/1.0/conf/landing-page',
  'ogcapi-common-1/1.0/conf/json',
  'ogcapi-common-1/1.0/conf/html',
  'ogcapi-common-1/1.0/conf/oas30',
  'ogcapi-common-2/1.0/conf/collections',
]
const features = [
  'ogcapi-features-1/1.0/conf/core',
  'ogcapi-features-1/1.0/conf/geojson',
  'ogcapi-features-1/1.0/conf/html',
  'ogcapi-features-1/1.0/conf/oas30',
  'ogcapi-features-2/1.0/conf/crs',
]

export const conformanceClasses: readonly string[] = [...common, ...features].map(
  (name) => `http://www.opengis.net/spec/${name}`,
)
