/** What tenants may not name. The role they run as is the true wall; this one tells them early, and in words. */

const refusedSchema = /^(pg_.*|information_schema|svc|app_.*|topology|tiger|tiger_data)$/i

export const isRefusedSchema = (name: string): boolean => refusedSchema.test(name)

/** Functions that the grammar itself makes out of SQL syntax. */
const syntaxFunctions = new Set(
  (
    'extract timezone like_escape similar_to_escape overlaps overlay position substring btrim ltrim rtrim normalize ' +
    'is_normalized pg_collation_for xmlexists date_part similar_escape'
  ).split(' '),
)

export const isSyntaxFunction = (name: string): boolean => syntaxFunctions.has(name)

const allowed = new Set(
  (
    'pg_typeof pg_column_size pg_size_pretty pg_size_bytes pg_collation_for pg_input_is_valid ' +
    'postgis_version postgis_full_version postgis_lib_version postgis_geos_version postgis_proj_version'
  ).split(' '),
)

const refused = [
  // Session, server and transactions.
  /^(pg_|set_config$|txid_|inet_(server|client)_|binary_upgrade_|current_query$|currtid)/,
  /^(nextval|currval|setval|lastval|gin_clean_pending_list|brin_(de)?summarize_.*)$/,
  // SQL in a text, which nobody has looked at.
  /(^|_)to_xml|^(query|table|schema|database|cursor)_to_|^(ts_stat|ts_rewrite|xpath_table|crosstab.*|connectby)$/,
  // Other servers, files and large objects.
  /^(dblink|lo_|loread$|lowrite$|http(_|$)|aws_|file_|plperl|plpython|postgres_fdw_|.*gdal)/,
  // What there is: names, comments and rights of things that belong to others.
  /^(to_reg|has_.*_privilege$|(obj|col|shobj)_description$|row_security_active$)/,
  // PostGIS: statistics of tables by name, changes of tables, locks and upgrades.
  /^(_?postgis_|st_(estimated_?extent|findextent)$|find_?extent|estimated_extent|find_srid$|.*topolog|.*topogeo)/,
  /^(add|drop)(raster|overview|geometry)|^(updategeometrysrid|populate_geometry_columns|addauth|checkauth.*)$/,
  /^(lockrow|unlockrows|.*longtransactions.*|gettransactionid|st_fromgdalraster|.*outdb.*)$/,
]

/** Whatever its case: a quoted name is no way around. */
export function isRefusedFunction(name: string): boolean {
  const lower = name.toLowerCase()
  return !allowed.has(lower) && refused.some((pattern) => pattern.test(lower))
}

/** Types whose texts are looked up among the names of all tenants; those for text search and types are harmless. */
const refusedType = /^(pg_.*|reg(class|proc|procedure|oper|operator|role|namespace|collation)|refcursor|aclitem)$/i

export const isRefusedType = (name: string): boolean => refusedType.test(name)
