import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** Runs npm in the folder. Returns what it printed, or rejects with it. */
export const npm = (folder: string, args: readonly string[]): Promise<string> => runIn(folder, 'npm', args)

/** Runs a command to its end. Returns its output, or rejects with it. */
export async function runIn(folder: string, command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const exitCode = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if ((await exitCode) === 0) return output
  throw new Error(`${command} ${args.join(' ')} failed:\n${output}${errors}`)
}
