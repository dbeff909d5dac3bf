// Attributes: the named, typed things that a query may filter, sort and aggregate by.

export type AttributeType =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'time'
  | 'uuid'
  | 'json'
  | 'array'
  | 'binary'
  | 'geometry'

/** Types whose values are scalars that can be compared. */
export type ScalarType = Exclude<AttributeType, 'json' | 'array' | 'binary' | 'geometry'>

/** A resource's field or a dataset's column, as queries see it. */
export type Attribute = {
  readonly name: string
  readonly type: AttributeType
  /** Type of an array's items. When absent, items are compared as text. */
  readonly itemType?: AttributeType
  /** The datetime column is `timestamp`: its values are read as UTC, whatever the session's time zone. */
  readonly withoutZone?: boolean
  /** The database stores the string as `text`, so that an index on it can be used without a cast. */
  readonly isText?: boolean
  /** The cast of compared values, where the default one of `type` would round them, drop their zone or count their blanks. */
  readonly sqlType?: 'float4' | 'timetz' | 'bpchar'
  /**
   * The database compares values in the column's own type, of which there are more than attribute types: money, inet, enumerations.
   * It reads the text of an operand, too. Of an array: its items.
   */
  readonly isNative?: boolean
  /** LIKE is an operator of the column's own type, such as that of citext, which ignores case. */
  readonly hasOwnLike?: boolean
  /** The column's type has no equality: its text is compared. */
  readonly isPrinted?: boolean
  /** The database can sort values of this type, though memory cannot. */
  readonly isOrdered?: boolean
  /** SRID of a geometry, 4326 by default; 0 means longitudes and latitudes without a reference system. */
  readonly srid?: number
  /** The geometry column has no reference system: its numbers are read as `srid`. */
  readonly unlocated?: boolean
  /** Every value of the geometry column may have its own reference system; `srid` is one of them. */
  readonly mixed?: boolean
  /** The geometry column accepts any reference system, and values without one. */
  readonly isVarying?: boolean
  /** The reference system of values that have none, if the dataset states it. */
  readonly zeroSrid?: number
  /** Values with several reference systems were seen, so that no box finds them all. */
  readonly hasSystems?: boolean
  /** Values without a reference system were seen whose coordinates are no degrees, and the dataset states none. */
  readonly isOutsideDegrees?: boolean
  /** The geometries are known to be multipoints, of which a part may be empty. */
  readonly isMultiPoint?: boolean
  /** The geometries are known to have no rings, such as points. */
  readonly ringless?: boolean
  /** The geometries are known to be polygons or multipolygons, so that no line is turned around with their rings. */
  readonly isAreal?: boolean
  /**
   * Geometries may lie beyond ±180 degrees: x repeats after so many units, 360 in degrees. Absent where all are known to lie within that,
   * and in systems that do not go round the earth.
   */
  readonly period?: number
  readonly geography?: boolean
  /** The geometries are known to be points or null. */
  readonly isPoint?: boolean
  /** A number's SQL type, such as `DECIMAL(18,3)`, for an engine that compares only decimals of the same scale. */
  readonly decimal?: string
}

export type ScalarAttribute = Attribute & { readonly type: ScalarType }

/** A column's type as its database names it. */
export type ColumnType = {
  readonly type: AttributeType
  readonly dbType: string
  /** Of a domain: the type that it limits. `record` of a composite type. */
  readonly baseType?: string
  readonly srid?: number
}

/** The name that says what the values of a column are. */
export const valueTypeOf = ({ dbType, baseType }: Pick<ColumnType, 'dbType' | 'baseType'>): string => baseType ?? dbType

/** What the name of a column's type says beyond the attribute type. */
export type ColumnTraits = Omit<Attribute, 'name' | 'type'>

/** The attributes a caller may name. A hidden field is absent, exactly like one that does not exist. */
export type Attributes = ReadonlyMap<string, Attribute>
