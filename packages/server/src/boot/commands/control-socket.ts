import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { StartError } from '../../kernel/errors.ts'
import type { CliCommand } from './commands.ts'

/**
 * Control socket: the embedded database belongs to one process, so commands of the same user reach it through a Unix socket
 * beside the data. That way `keys` works while the server runs.
 */
const socketPath = (directory: string): string => join(directory, 'control.sock')

/**
 * The system limits the length of a socket's path. With a longer one there is no socket, and commands need the server
 * stopped.
 */
const fits = (path: string): boolean => Buffer.byteLength(path) < 104

type Reply = { text: string } | { error: string }

export async function serveControlSocket(
  directory: string,
  perform: (command: CliCommand) => Promise<string>,
): Promise<Server | undefined> {
  const path = socketPath(directory)
  if (!fits(path)) return undefined
  await rm(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    socket.on('error', () => socket.destroy())
    const reply: Reply = await json(socket)
      .then((command) => perform(command as CliCommand))
      .then((text) => ({ text }))
      .catch((error: Error) => ({ error: error.message }))
    socket.end(JSON.stringify(reply))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  await chmod(path, 0o600)
  return server
}

/** The answer of the server that runs on this directory; undefined when none does. */
export async function askControlSocket(directory: string, command: CliCommand): Promise<string | undefined> {
  if (!fits(socketPath(directory))) return undefined
  const socket = connect(socketPath(directory))
  try {
    socket.end(JSON.stringify(command))
    const reply = (await json(socket)) as Reply
    if ('error' in reply) throw new StartError(reply.error)
    return reply.text
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}
