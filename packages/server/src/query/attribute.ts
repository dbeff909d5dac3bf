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

/** The types whose values are one comparable thing. */
export type ScalarType = Exclude<AttributeType, 'json' | 'array' | 'binary' | 'geometry'>

/** Something a caller may filter by: a resource's field or a dataset's column. */
export type Attribute = {
  readonly name: string
  readonly type: AttributeType
  /** Of an array. Without it the items are compared as text. */
  readonly itemType?: AttributeType
  /** Of a datetime kept as `timestamp`: its values are UTC whatever the session's time zone is. */
  readonly withoutZone?: boolean
  /** Of a geometry, 4326 unless told; 0 means that the numbers are longitudes and latitudes without a system. */
  readonly srid?: number
  /** Of a geometry whose column has no reference system: its numbers are in `srid`. */
  readonly unlocated?: boolean
  /** Of a geometry whose column lets every value have its own reference system; `srid` is one of them. */
  readonly mixed?: boolean
  /** Of a geometry that is known to have no rings, such as a point. */
  readonly ringless?: boolean
  readonly geography?: boolean
}

/** What a caller may name. A field that it may not name is absent, just like one that does not exist. */
export type Attributes = ReadonlyMap<string, Attribute>
