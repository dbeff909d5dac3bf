// Loaded into a server with --import: answers every message with how late the event loop was since the last one.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolution = 10
const delay = monitorEventLoopDelay({ resolution })
delay.enable()

// What is measured is the time from one tick to the next, the wait that was asked for included.
const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolution)

process.on('message', () => {
  process.send?.({ p99: late(delay.percentile(99)), most: late(delay.max) })
  delay.reset()
})
// Listening must not keep the server from ending.
process.channel?.unref()
