/** The thread that parses long texts of tenants' SQL, so that the event loop does not. */
import { serveRequests } from '../../concurrency/serve-requests.ts'
import { stepBack } from '../../concurrency/step-back.ts'
import { readRelations } from './sql-relations.ts'

stepBack()
serveRequests(readRelations)
