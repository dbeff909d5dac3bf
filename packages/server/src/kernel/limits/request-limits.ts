/** The limits of one request alone: its address, its headers, and what its body may hold. `limits.ts` puts the tables together. */
import type { Limit } from './limit.ts'

const mebibyte = 1_048_576

export const requestLimits = {
  urlBytes: { what: 'Address of a request', value: 8_192, unit: 'bytes', code: 'uri_too_long', countedIn: 'request' },
  headerBytes: { what: 'All headers', value: 32_768, unit: 'bytes', code: 'headers_too_large', countedIn: 'request' },
  headerCount: { what: 'Headers', value: 100, code: 'headers_too_large', countedIn: 'request' },
  queryParameters: { what: 'Query parameters', value: 1_000, code: 'invalid_request', countedIn: 'request' },
  queryDepth: { what: 'Nesting of a query parameter', value: 32, code: 'invalid_request', countedIn: 'request' },
  offset: { what: 'Rows that `offset` skips', value: 1_000_000, code: 'invalid_request', countedIn: 'request' },
  bodyBytes: {
    what: 'JSON body; styles and configuration may have 4 MiB, rows 8 MiB, requests without a key 16 KiB',
    unit: 'bytes',
    setting: 'BODY_LIMIT',
    code: 'too_large',
    countedIn: 'request',
  },
  bodyDepth: { what: 'Nesting of a JSON body', value: 64, code: 'invalid_request', countedIn: 'request' },
  bodyValues: {
    what: 'Values in a JSON body, without coordinates; rows have limits of their own',
    value: 20_000,
    code: 'too_large',
    countedIn: 'request',
  },
  bodyCoordinates: {
    what: 'Numbers and lists in all `coordinates` of a JSON body',
    value: 100_000,
    code: 'too_large',
    countedIn: 'request',
  },
  documentValues: {
    what: 'Values in the body of a style or a configuration, without coordinates',
    value: 100_000,
    code: 'too_large',
    countedIn: 'request',
  },
  bodyKeys: { what: 'Keys in a JSON body', value: 10_000, code: 'invalid_request', countedIn: 'request' },
  keyBytes: { what: 'Key in a JSON body', value: 1_024, unit: 'bytes', code: 'invalid_request', countedIn: 'request' },
  names: {
    what: 'Names in a list, such as `attributes` or `order`, each once',
    value: 2_000,
    code: 'invalid_request',
    countedIn: 'request',
  },
  filterPositions: {
    what: 'Positions of a geometry in a filter',
    value: 30_000,
    code: 'invalid_filter',
    countedIn: 'request',
  },
  areaCrossings: {
    what: 'Places where the edges of an area cross each other, in a filter or where it is repaired',
    value: 500,
    code: 'invalid_filter',
    countedIn: 'request',
  },
  placeText: { what: 'Text of a search for places', value: 200, code: 'invalid_request', countedIn: 'request' },
  placesFound: { what: 'Places that a search may ask for', value: 50, code: 'invalid_request', countedIn: 'request' },
  styleLayers: { what: 'Layers of a style', value: 2_000, code: 'invalid_request', countedIn: 'request' },
  styleSources: { what: 'Sources of a style', value: 500, code: 'invalid_request', countedIn: 'request' },
  styleValues: { what: 'Values in a style', value: 100_000, code: 'invalid_request', countedIn: 'request' },
  expressionValues: {
    what: 'Values in an expression of a style',
    value: 10_000,
    code: 'invalid_request',
    countedIn: 'request',
  },
  expressionDepth: {
    what: 'Nesting of an expression of a style',
    value: 32,
    code: 'invalid_request',
    countedIn: 'request',
  },
  bodyMs: {
    what: 'Time for a body to arrive',
    value: 60_000,
    unit: 'ms',
    code: 'request_timeout',
    countedIn: 'request',
  },
  metadataBytes: {
    what: 'Metadata of a record',
    value: 65_536,
    unit: 'bytes',
    code: 'too_large',
    countedIn: 'request',
  },
  configBytes: {
    what: 'Configuration of an application',
    value: mebibyte,
    unit: 'bytes',
    code: 'too_large',
    countedIn: 'request',
  },
} as const satisfies Record<string, Limit>
