import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MbtilesCommand, type MbtilesReply, ready } from './mbtiles-protocol.ts'

/** One life of the process that reads MBTiles. */
export type MbtilesChild = {
  /** Answers come in the order of the commands. */
  send(command: MbtilesCommand): void
  /** Whether this process waits for it before it ends. */
  hold(isHeld: boolean): void
  kill(): void
  readonly ended: Promise<void>
}

/** Beside this file: TypeScript when the sources run, JavaScript once they are compiled. */
const readerFile = fileURLToPath(new URL(`./mbtiles-reader${extname(import.meta.url)}`, import.meta.url))

/** It hears nothing more once the process is killed. */
type Listener = { ready(): void; reply(reply: MbtilesReply): void; ended(): void }

export function startMbtilesChild(on: Listener): MbtilesChild {
  const child = fork(readerFile, [], {
    serialization: 'advanced',
    // Neither the secrets nor the flags of this process are meant for it.
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  let isKilled = false
  child.on('message', (message: MbtilesReply | typeof ready) => {
    if (isKilled) return
    if (message === ready) on.ready()
    else on.reply(message)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    // It could not be started.
    child.on('error', () => child.pid === undefined && resolve())
  })
  const tell = () => isKilled || on.ended()
  ended.then(tell, tell)
  return {
    // What could not be sent is answered by its end.
    send: (command) => child.send(command, () => {}),
    hold(isHeld) {
      if (isHeld) child.ref()
      else child.unref()
      if (isHeld) child.channel?.ref()
      else child.channel?.unref()
    },
    kill() {
      isKilled = true
      child.ref()
      child.kill('SIGKILL')
    },
    ended,
  }
}
