#!/usr/bin/env node
import { run } from '../src/cli.ts'

try {
  // biome-ignore lint/style/noProcessEnv: the settings come from here
  await run(process.argv.slice(2), process.env)
  process.exit(0)
} catch (error) {
  const isExpected = ['UsageError', 'ConnectionRefused', 'NotServed'].includes(error.name)
  console.error(isExpected ? error.message : error)
  process.exit(1)
}
