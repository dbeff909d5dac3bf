import { type ChildProcess, spawn } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Starts the sandboxed process of a tenant. */

const childFile = fileURLToPath(new URL(`./child/main${extname(import.meta.url)}`, import.meta.url))
const heapMb = 256
const openFiles = 512
/** Only DuckDB's temporary files are written. */
const maxFileMb = 2048
/** Each running query takes one while it computes; each takes 8 MB of the limit of memory for its stack. */
const workerThreads = 16

/**
 * DuckDB's own limit of memory does not bound what a function makes, so the operating system has to. Where it lets a process
 * give up rights, this one gives up all, and the network too. `exec` keeps the process id.
 */
const confine = `
ulimit -c 0
ulimit -d "$1" 2>/dev/null
ulimit -f "$2" 2>/dev/null
ulimit -n ${openFiles} 2>/dev/null
shift 2
if setpriv --no-new-privs --bounding-set=-all --inh-caps=-all true 2>/dev/null
then set -- setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
elif setpriv --no-new-privs true 2>/dev/null; then set -- setpriv --no-new-privs -- "$@"
fi
if unshare --net true 2>/dev/null; then set -- unshare --net -- "$@"
elif unshare --user --map-current-user --net true 2>/dev/null; then set -- unshare --user --map-current-user --net -- "$@"
fi
exec "$@"`

/** What a process has reserved before it does anything: V8's range of code and the stacks of threads, hardly any of it in use. */
const reservedMb = 768

export type ChildSettings = {
  /** Its own, empty at the beginning. */
  readonly directory: string
  /** What it may take for its work. */
  readonly memoryMb: number
  readonly threads: number
}

export function spawnChild(settings: ChildSettings): ChildProcess {
  const { directory, memoryMb } = settings
  const node = [process.execPath, `--max-old-space-size=${heapMb}`, childFile, JSON.stringify(settings)]
  // In kilobytes, and in blocks of 512 bytes.
  const limits = [String((reservedMb + memoryMb) * 1024), String(maxFileMb * 2048)]
  return spawn('/bin/sh', ['-c', confine, 'sh', ...limits, ...node], {
    cwd: directory,
    // Nothing of the server's settings, which hold secrets.
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: directory,
      TZ: 'UTC',
      UV_THREADPOOL_SIZE: String(workerThreads),
      MALLOC_ARENA_MAX: '4',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A group of its own: a signal to the server's group, such as Ctrl-C, is not for it.
    detached: true,
  })
}
