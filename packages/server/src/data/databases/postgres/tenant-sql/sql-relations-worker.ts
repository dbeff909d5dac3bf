/** The thread that parses long texts of tenants' SQL, so that the event loop does not. */
import { serveRequests } from '../../../../kernel/concurrency/serve-requests.ts'
import { stepBack } from '../../../../kernel/concurrency/step-back.ts'
import { readRelations } from './sql-relations.ts'

stepBack()
serveRequests(readRelations)
