import { parentPort, workerData } from 'node:worker_threads'
import { createLink } from './link.ts'
import type { FromLink, ToLink } from './link-messages.ts'

// The thread of the WebSocket, separate so that pings are answered even if the handlers block.
const port = parentPort
if (!port) throw new Error('This module must be started by serveAgent, as a thread.')
const handle = createLink(workerData, (message: FromLink) => {
  port.postMessage(message)
  if (message.type === 'ended') port.close()
})
port.on('message', (message: ToLink) => handle(message))
