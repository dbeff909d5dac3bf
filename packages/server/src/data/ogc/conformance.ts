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
  'ogcapi-features-3/1.0/conf/queryables',
  'ogcapi-features-3/1.0/conf/filter',
  'ogcapi-features-3/1.0/conf/features-filter',
  'ogcapi-features-4/1.0/conf/create-replace-delete',
  'ogcapi-features-4/1.0/conf/update',
  'ogcapi-features-4/1.0/conf/optimistic-locking-etags',
  'ogcapi-features-4/1.0/conf/features',
  // Part 5 became Part 3 of Common; QGIS looks for the older name.
  'ogcapi-features-5/1.0/conf/schemas',
  'ogcapi-features-5/1.0/conf/queryables',
  'ogcapi-features-5/1.0/conf/sortables',
  'ogcapi-common-3/1.0/conf/schemas',
  'ogcapi-common-3/1.0/conf/queryables',
  'ogcapi-common-3/1.0/conf/sortables',
]
const cql2 = [
  ...['cql2-text', 'cql2-json', 'basic-cql2', 'advanced-comparison-operators', 'case-insensitive-comparison'],
  ...['accent-insensitive-comparison', 'basic-spatial-functions', 'basic-spatial-functions-plus', 'spatial-functions'],
  ...['temporal-functions', 'array-functions', 'property-property', 'arithmetic'],
].map((name) => `cql2/1.0/conf/${name}`)
const tiles = ['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'mvt', 'oas30'].map(
  (name) => `ogcapi-tiles-1/1.0/conf/${name}`,
)

export const conformanceClasses: readonly string[] = [...common, ...features, ...cql2, ...tiles].map(
  (name) => `http://www.opengis.net/spec/${name}`,
)
