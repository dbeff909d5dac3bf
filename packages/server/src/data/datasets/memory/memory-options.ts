/** Options of datasets without a database: web services and functions. */
import type { DatasetDraft } from '../dataset-record.ts'
import type { LambdaOptions } from '../types/lambda-answer.ts'
import type { FunctionList } from '../types/lambda-functions.ts'
import type { RestFetcher } from '../types/rest-answer.ts'
import type { RestCache } from '../types/rest-cache.ts'
import type { MemoryThreads } from './memory-source-threads.ts'

export type MemoryOptions = {
  egress: RestFetcher
  cache: RestCache
  /** Undefined if this installation calls no functions. */
  lambda: (Pick<LambdaOptions, 'endpoint' | 'region' | 'credentials'> & { functions: FunctionList }) | undefined
  /** Decrypts a dataset's secret headers. */
  openHeaders(dataset: DatasetDraft): Record<string, string>
  threads: MemoryThreads
}
