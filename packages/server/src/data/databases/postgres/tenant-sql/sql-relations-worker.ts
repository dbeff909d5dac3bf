/** The thread that parses long texts of tenants' SQL, so that the event loop does not. */

import { lowerThreadPriority } from '../../../../kernel/concurrency/priority.ts'
import { serveRequests } from '../../../../kernel/concurrency/serve-requests.ts'
import { readRelations } from './sql-relations.ts'

lowerThreadPriority()
serveRequests(readRelations)
