/** Validates a reference system before the file is sent. */
const srid = /^(?:(?:epsg:)?\d{1,6}|urn:ogc:def:crs:epsg:[\d.]*:\d{1,6})$/i

export const sridFault = (value: string | number | undefined): string | undefined =>
  value === undefined || srid.test(String(value).trim())
    ? undefined
    : 'Must be the number of a reference system, such as 3067 or EPSG:3067.'
