// Prints how large the young generation is before and after `trimHeap`, in a process without the flags of a test run.
import { getHeapSpaceStatistics } from 'node:v8'
import { trimHeap } from '../../src/boot/start/trim-heap.ts'

const youngBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
const kept: object[] = []
for (let size = 0; size < 500_000; size++) kept.push({ size })
const before = youngBytes()
trimHeap()
console.log(JSON.stringify({ kept: kept.length, before, after: youngBytes(), gc: typeof globalThis.gc }))
