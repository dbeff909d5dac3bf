import { NotServed, run } from './cli.ts'
import { ConnectionRefused } from './errors.ts'
import { UsageError } from './settings/setting.ts'

const exitCodes = { stopped: 0, notServed: 1, usage: 2 }

/** The command `graticule-agent`. Errors that the user can fix are printed without a stack. */
export async function main(): Promise<void> {
  try {
    // biome-ignore lint/style/noProcessEnv: the environment is passed on from here
    await run(process.argv.slice(2), process.env)
    process.exit(exitCodes.stopped)
  } catch (error) {
    const isExpected = [UsageError, ConnectionRefused, NotServed].some((kind) => error instanceof kind)
    console.error(isExpected ? (error as Error).message : error)
    process.exit(error instanceof UsageError ? exitCodes.usage : exitCodes.notServed)
  }
}
