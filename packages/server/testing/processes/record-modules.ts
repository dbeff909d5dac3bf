// Preloaded by a test into a server: writes the packages whose modules its main thread has loaded when it ends.
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.env.LOADED_MODULES) {
  const file = process.env.LOADED_MODULES
  const packages = new Set<string>()
  registerHooks({
    load(url, context, nextLoad) {
      const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
      if (name) packages.add(name)
      return nextLoad(url, context)
    },
  })
  process.on('exit', () => writeFileSync(file, JSON.stringify([...packages])))
}
