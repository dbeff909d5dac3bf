// Installs what is missing before `npm start` and, with --test, before `npm test`. Silent and quick when all is in place.
// Plain JavaScript for any Node >= 18, because the Node that runs everything else is one of the things it installs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(dirname(fileURLToPath(import.meta.url)))

const pinnedNode = 'node_modules/.bin/node'
const installedStamp = 'node_modules/.graticule-installed'
const templateScript = 'packages/server/src/db/embedded-template.ts'
const templateStamp = 'node_modules/.cache/graticule/template-prepared'

// What only the tests need, from Debian's packages.
const testPackages = [
  { name: 'postgresql-postgis', purpose: 'PostgreSQL with PostGIS', isPresent: hasPostgis },
  { name: 'chromium', purpose: 'Chromium', isPresent: () => isOnPath('chromium') },
  { name: 'gdal-bin', purpose: 'ogr2ogr', isPresent: () => isOnPath('ogr2ogr') },
  { name: 'openssl', purpose: 'certificates', isPresent: () => isOnPath('openssl') },
  { name: 'nats-server', purpose: 'NATS', isPresent: () => isOnPath('nats-server') },
  { name: 'nginx-light', purpose: 'nginx', isPresent: () => isOnPath('nginx') },
  { name: 'zip', purpose: 'zip', isPresent: () => isOnPath('zip') },
  { name: 'procps', purpose: 'ps', isPresent: () => isOnPath('ps') },
]

const needs = [
  { isMet: hasNpmPackages, meet: installNpmPackages },
  { isMet: hasTemplate, meet: prepareTemplate },
]
if (process.argv.includes('--test')) needs.push({ isMet: hasTestPackages, meet: installTestPackages })

if (!needs.every((need) => need.isMet())) {
  acquireLock()
  // Asked again, one by one: another run may have met them while this one waited for the lock.
  for (const need of needs) if (!need.isMet()) need.meet()
}

function hasNpmPackages() {
  return existsSync(pinnedNode) && readIfPresent(installedStamp) === npmDigest()
}

function installNpmPackages() {
  // Without our stamp an earlier install may have broken off half-way; with an old one npm applies the difference.
  if (!existsSync(installedStamp)) rmSync('node_modules', { recursive: true, force: true })
  rmSync(installedStamp, { force: true })
  // Not `npm ci`: it refuses a lockfile without the optional packages of all platforms, and not every registry has them.
  // NODE_ENV=production makes npm leave out devDependencies, and the pinned Node is one of them.
  const args = ['install', '--no-save', '--include=dev', '--include=optional', '--loglevel=error']
  // npm run puts node_modules/.bin first; npm must not run on the Node that it is about to replace.
  run('Installing npm packages (about a minute)', 'npm', args, { PATH: searchPath().join(delimiter) })
  if (!existsSync(pinnedNode)) {
    fail(`npm did not run the install script of the package "node", so ${pinnedNode} is missing.`, [
      'Is ignore-scripts set? This runs it once:  npm rebuild node --ignore-scripts=false',
    ])
  }
  writeFileSync(installedStamp, npmDigest())
}

// Everything that decides what npm installs; scripts may change without a new install.
function npmDigest() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  hash.update(readFileSync('package-lock.json'))
  const workspaces = readdirSync('packages').map((name) => `packages/${name}/package.json`)
  for (const file of ['package.json', ...workspaces.filter((path) => existsSync(path))]) {
    const { scripts, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
    hash.update(JSON.stringify(rest))
  }
  return hash.digest('hex')
}

function hasTemplate() {
  return readIfPresent(templateStamp) === templateDigest()
}

function prepareTemplate() {
  mkdirSync(dirname(templateStamp), { recursive: true })
  run('Preparing the embedded database (once, about 15 seconds)', pinnedNode, [templateScript])
  writeFileSync(templateStamp, templateDigest())
}

function templateDigest() {
  return createHash('sha256').update(npmDigest()).update(readFileSync(templateScript)).digest('hex')
}

function hasTestPackages() {
  return testPackages.every(({ isPresent }) => isPresent())
}

function installTestPackages() {
  const missing = testPackages.filter(({ isPresent }) => !isPresent())
  const purposes = missing.map(({ purpose }) => purpose).join(' and ')
  const install = ['install', '-y', '--no-install-recommends', ...missing.map(({ name }) => name)]
  if (!isOnPath('apt-get')) fail(`The tests need ${purposes}. Install them and run this again.`)
  if (process.getuid?.() !== 0) fail(`The tests need ${purposes}. Run:`, [`sudo apt-get ${install.join(' ')}`])
  const environment = { DEBIAN_FRONTEND: 'noninteractive' }
  run('Updating the list of Debian packages', 'apt-get', ['update'], environment)
  run(`Installing ${purposes}`, 'apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...install], environment)
  if (!hasTestPackages()) fail(`apt-get ended well, but ${purposes} cannot be found.`)
}

function hasPostgis() {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const onDebian = versions.some(
    (version) =>
      existsSync(`/usr/lib/postgresql/${version}/bin/initdb`) &&
      existsSync(`/usr/share/postgresql/${version}/extension/postgis.control`),
  )
  return onDebian || existsSync(join(pgConfig('--sharedir'), 'extension/postgis.control'))
}

function pgConfig(option) {
  return spawnSync('pg_config', [option], { encoding: 'utf8' }).stdout?.trim() ?? ''
}

function isOnPath(binary) {
  return searchPath().some((directory) => existsSync(join(directory, binary)))
}

function searchPath() {
  return (process.env.PATH ?? '').split(delimiter).filter((directory) => !directory.endsWith('node_modules/.bin'))
}

// Two runs at once in one checkout must not install over each other.
function acquireLock() {
  const checkout = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 16)
  const lock = join(tmpdir(), `graticule-bootstrap-${checkout}`)
  for (let announced = false; ; sleep(200)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      process.on('exit', () => rmSync(lock, { force: true }))
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const owner = Number(readIfPresent(lock))
    if (owner && !isRunning(owner)) rmSync(lock, { force: true })
    else if (!announced) announced = say(`Waiting for another bootstrap of this checkout (its lock is ${lock}) …`)
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

// Runs a command with its output in a file, which is shown only if the command fails.
function run(title, command, args, environment) {
  say(`${title} …`)
  const directory = mkdtempSync(join(tmpdir(), 'graticule-log-'))
  const log = join(directory, 'output')
  const output = openSync(log, 'w')
  const env = { ...process.env, ...environment }
  const { status, signal, error } = spawnSync(command, args, { stdio: ['ignore', output, output], env })
  closeSync(output)
  const text = readFileSync(log, 'utf8').trimEnd()
  rmSync(directory, { recursive: true })
  if (status === 0) return
  fail(`"${command} ${args.join(' ')}" failed: ${error?.message ?? signal ?? `exit code ${status}`}`, [text])
}

function readIfPresent(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function say(line) {
  console.error(line)
  return true
}

function fail(line, details = []) {
  for (const detail of [line, ...details]) say(detail)
  process.exit(1)
}
