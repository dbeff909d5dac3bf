import type { FileFormat } from './messages.ts'

const formats: readonly (readonly [RegExp, FileFormat])[] = [
  [/\.(parquet|geoparquet|pq)$/i, 'parquet'],
  [/\.(csv|tsv)(\.gz)?$/i, 'csv'],
  [/\.(json|ndjson|jsonl)(\.gz)?$/i, 'json'],
  [/\.(duckdb|ddb)$/i, 'duckdb'],
]

/** The format of a file by the ending of its name; undefined: it is no table. */
export const formatOf = (file: string): FileFormat | undefined => formats.find(([ending]) => ending.test(file))?.[1]
