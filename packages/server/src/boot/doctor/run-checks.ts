import { type Check, type CheckContext, type Finding, fault, messageOf } from './check.ts'

export type Line = Finding & { readonly name: string }

/** A check that takes longer has found out enough. */
const limitMs = 10_000

/** All checks at once, each within its time: one that hangs or fails stops no other. In the order of the list. */
export async function runChecks(checks: readonly Check[], context: CheckContext, timeMs = limitMs): Promise<Line[]> {
  const wanted = checks.filter(({ applies }) => applies?.(context.config) ?? true)
  const findings = await Promise.all(wanted.map((check) => runInTime(check, context, timeMs)))
  return findings.flat()
}

async function runInTime(check: Check, context: CheckContext, timeMs: number): Promise<Line[]> {
  const { promise: timeout, resolve } = Promise.withResolvers<Finding>()
  const timer = setTimeout(() => resolve(hangs(timeMs)), timeMs)
  const running = Promise.resolve()
    .then(() => check.run(context))
    .catch((error) =>
      fault(`The check failed: ${messageOf(error)}`, 'Mend what the message names, and run doctor again.'),
    )
  const findings = await Promise.race([running, timeout])
  clearTimeout(timer)
  return [findings].flat().map((finding) => ({ name: check.name, ...finding }))
}

const hangs = (timeMs: number): Finding =>
  fault(`There was no answer within ${timeMs / 1000} s.`, 'Check the address, the network and the firewall in between.')
