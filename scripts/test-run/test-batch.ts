// Test files one after another in one process: they load and compile the server once. Each is a suite with the name of its
// file, so that its set-up and its end are its own.
import { after, suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { noteCpu } from './note-cpu.ts'

for (const file of process.argv.slice(2)) {
  await suite(file, async () => {
    await import(pathToFileURL(file).href)
    // After the file's own, which end what it has started.
    after(() => noteCpu(file))
  })
}
