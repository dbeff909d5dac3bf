import { postgisFunctions } from './postgis-functions.ts'
import { sqlFunctions, sqlTypes } from './sql-functions.ts'

/** Schemas of the system, of the service and of applications, in any database: nobody reads them but by their own name. */
const closedSchema = /^(pg_.*|information_schema|svc|pgboss|topology|tiger|tiger_data|app_[\da-f]{32})$/i

/** `own` is where the unqualified names of whoever asks are. */
export const isClosedSchema = (name: string, own: string): boolean => name !== own && closedSchema.test(name)

/** Whether a function may be called by this name without a schema, or with that of PostgreSQL or PostGIS. */
export const isKnownFunction = (name: string): boolean =>
  sqlFunctions.has(name) || postgisFunctions.has(name) || sqlTypes.has(name)

/** For suggestions. */
export const knownFunctions = (): string[] => [...sqlFunctions, ...postgisFunctions]
export const knownTypes: Iterable<string> = sqlTypes

/** Functions of extensions that reach beyond values, wherever they are installed. */
const reachingOut =
  /^(_?postgis_|_?st_|pg_|pgis_|lo_|dblink|http|aws_|file_|postgres_fdw|find_srid|populate_geometry|addauth|checkauth|lockrow|unlockrows|.*(topolog|topogeo|longtransaction|gdal|outdb|raster|geometrycolumn|geometrytable|geometrysrid)|(query|table|schema|database|cursor)_to_|crosstab|connectby|xpath_table)/

/** Whether somebody's own function may be called in an external database, where they write its schema. */
export const isExternalFunction = (name: string): boolean =>
  isKnownFunction(name) || !reachingOut.test(name.toLowerCase())

export const isKnownType = (name: string): boolean => sqlTypes.has(name)

/**
 * `(a).b` calls the function b, or casts to the type b, where a has no field b: `(1259).regclass` is a name of the catalog,
 * and so is `coalesce(t.pg_typeof, 1259)`. Fields may have any other name; a test holds the rest against the live catalog.
 */
const callingField = new RegExp(
  `^(${[
    '_?(reg(class|collation|config|database|dictionary|namespace|oper|operator|proc|procedure|role|type)|aclitem)(in|out|recv|send)?',
    '_?(pg|binary_upgrade|txid|postgis|pgis|fmgr|brin|gin)_.*|has_.*_privilege|to_reg[a-z]*',
    'aclexplode|hash_aclitem|amvalidate|plpgsql_validator|oidvectortypes|format_type|mxid_age|setseed|row_security_active',
    '(obj|col|shobj)_description|current_(setting|schemas|query|database)|(next|curr|set|last)val|currtid.?',
    'lo_(close|creat|create|get|import|export|lseek|open|put|tell|tell64|truncate|unlink|from_bytea).*|lo(read|write)',
    'ts_(debug|stat|token_type|parse|rewrite|lexize)|get_(proj4_from_srid|current_ts_config)',
    '(query|table|schema|database|cursor)_to_.*|(record|domain|array|range|multirange|enum)_(in|recv)',
    'addauth|checkauth.*|.*lockrows?|(add|drop)geometry.*|updategeometrysrid|populate_geometry_columns|find_srid',
    'st_(find|estimated)_?extent|_st_.*|.*longtransactions.*|gettransactionid|inet_(client|server)_.*',
    '_?(refcursor|cstring)',
  ].join('|')})$`,
  'i',
)

export const isCallingField = (name: string): boolean => callingField.test(name) && !sqlFunctions.has(name)
