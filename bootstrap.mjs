// Installs what is missing: what serving needs before `npm start`, with --dev the development tools too, with --test also
// what only the tests need. Silent and quick when all is in place.
// Plain JavaScript for any Node >= 18, because the Node that runs everything else is one of the things it installs.
import { spawn, spawnSync } from 'node:child_process'
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
import { startProgress } from './packages/server/bin/progress-line.js'

process.chdir(dirname(fileURLToPath(import.meta.url)))

const pinnedNode = 'node_modules/.bin/node'
const installedStamp = 'node_modules/.graticule-installed'
// npm writes it when an install has ended well: what is in node_modules.
const installedPackages = 'node_modules/.package-lock.json'
const templateScript = 'packages/server/src/kernel/db/embedded/embedded-template.ts'
const templateStamp = 'node_modules/.cache/graticule/template-prepared'

const debianPython = '/usr/lib/python3/dist-packages'
// What only the tests need, from Debian's packages.
const testPackages = [
  { name: 'postgresql-postgis', purpose: 'PostgreSQL with PostGIS', isPresent: hasPostgis },
  {
    name: 'chromium-headless-shell',
    purpose: 'Chromium',
    isPresent: () => isOnPath('chromium-headless-shell') || isOnPath('chromium'),
  },
  { name: 'gdal-bin', purpose: 'ogr2ogr', isPresent: () => isOnPath('ogr2ogr') },
  { name: 'openssl', purpose: 'certificates', isPresent: () => isOnPath('openssl') },
  { name: 'nats-server', purpose: 'NATS', isPresent: () => isOnPath('nats-server') },
  { name: 'nginx-light', purpose: 'nginx', isPresent: () => isOnPath('nginx') },
  { name: 'pgbouncer', purpose: 'PgBouncer', isPresent: () => isOnPath('pgbouncer') },
  { name: 'jq', purpose: 'jq', isPresent: () => isOnPath('jq') },
  { name: 'python3-geopandas', purpose: 'GeoPandas', isPresent: () => existsSync(`${debianPython}/geopandas`) },
  { name: 'python3-owslib', purpose: 'OWSLib', isPresent: () => existsSync(`${debianPython}/owslib`) },
  { name: 'python3-openpyxl', purpose: 'openpyxl', isPresent: () => existsSync(`${debianPython}/openpyxl`) },
  { name: 'python3-venv', purpose: 'venv', isPresent: hasVenv },
  { name: 'zip', purpose: 'zip', isPresent: () => isOnPath('zip') },
  { name: 'procps', purpose: 'ps', isPresent: () => isOnPath('ps') },
]

const needs = [
  { isMet: hasNpmPackages, meet: installNpmPackages },
  { isMet: hasTemplate, meet: prepareTemplate },
]
const isTest = process.argv.includes('--test')
if (isTest) needs.push({ isMet: hasTestPackages, meet: installTestPackages })
const needsTools = isTest || process.argv.includes('--dev')

if (!needs.every((need) => need.isMet())) {
  acquireLock()
  // Asked again, one by one: another run may have met them while this one waited for the lock.
  for (const need of needs) if (!need.isMet()) await need.meet()
}

function hasNpmPackages() {
  return existsSync(pinnedNode) && readIfPresent(installedStamp) === npmDigest() && (!needsTools || hasTools())
}

// Whether the development tools are installed, by npm's own list.
function hasTools() {
  return readIfPresent(installedPackages)?.includes('"dev": true') ?? false
}

async function installNpmPackages() {
  // Once installed, the tools stay: whoever develops starts the server, too.
  const withTools = needsTools || hasTools()
  // Without our stamp an earlier install may have broken off half-way; with an old one npm applies the difference.
  if (!existsSync(installedStamp)) rmSync('node_modules', { recursive: true, force: true })
  rmSync(installedStamp, { force: true })
  // Not `npm ci`: it refuses a lockfile without the optional packages of all platforms, and not every registry has them.
  // Said in full, because NODE_ENV and a user's own settings would decide otherwise.
  const args = [
    'install',
    '--no-save',
    `--${withTools ? 'include' : 'omit'}=dev`,
    '--include=optional',
    '--loglevel=error',
  ]
  // npm run puts node_modules/.bin first; npm must not run on the Node that it is about to replace.
  const environment = { PATH: searchPath().join(delimiter) }
  const title = withTools ? 'Installing npm packages, with those for development' : 'Installing npm packages'
  await run(title, 'npm', args, environment, percentage(withTools))
  if (!existsSync(pinnedNode)) {
    fail(`npm did not run the install script of the package "node", so ${pinnedNode} is missing.`, [
      'Is ignore-scripts set? This runs it once:  npm rebuild node --ignore-scripts=false',
    ])
  }
  if (!withTools && existsSync('node_modules/node/node_modules')) removeHeaders()
  writeFileSync(installedStamp, npmDigest())
}

// How much of what the lockfile lists has been unpacked.
function percentage(withTools) {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const isWanted = ({ link, dev, os, cpu }) =>
    !link && (withTools || !dev) && (os?.includes(process.platform) ?? true) && (cpu?.includes(process.arch) ?? true)
  const files = Object.keys(packages)
    .filter((path) => path.includes('node_modules/') && isWanted(packages[path]))
    .map((path) => join(path, 'package.json'))
  // The last hundredth is npm's: it runs the install scripts then.
  return () => `${Math.min(99, Math.floor((100 * files.filter((path) => existsSync(path)).length) / files.length))} %`
}

// The package "node" brings the C headers of Node along, 67 MB that only compilers of native modules read.
function removeHeaders() {
  const parent = 'node_modules/node/node_modules'
  const headers = readdirSync(parent).map((name) => join(parent, name, 'include'))
  for (const directory of headers.filter((path) => existsSync(path))) rmSync(directory, { recursive: true })
}

// Everything that decides what npm installs; scripts may change without a new install.
function npmDigest() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  hash.update(readFileSync('package-lock.json'))
  const packages = readdirSync('packages').map((name) => `packages/${name}/package.json`)
  const workspaces = [...packages, 'scripts/reference/package.json']
  for (const file of ['package.json', ...workspaces.filter((path) => existsSync(path))]) {
    const { scripts, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
    hash.update(JSON.stringify(rest))
  }
  return hash.digest('hex')
}

function hasTemplate() {
  return readIfPresent(templateStamp) === templateDigest()
}

async function prepareTemplate() {
  mkdirSync(dirname(templateStamp), { recursive: true })
  await run('Preparing the embedded database (once, about 15 seconds)', pinnedNode, [templateScript])
  writeFileSync(templateStamp, templateDigest())
}

function templateDigest() {
  return createHash('sha256').update(npmDigest()).update(readFileSync(templateScript)).digest('hex')
}

function hasTestPackages() {
  return testPackages.every(({ isPresent }) => isPresent())
}

async function installTestPackages() {
  const missing = testPackages.filter(({ isPresent }) => !isPresent())
  const purposes = missing.map(({ purpose }) => purpose).join(' and ')
  const install = ['install', '-y', '--no-install-recommends', ...missing.map(({ name }) => name)]
  if (!isOnPath('apt-get')) fail(`The tests need ${purposes}. Install them and run this again.`)
  if (process.getuid?.() !== 0) fail(`The tests need ${purposes}. Run:`, [`sudo apt-get ${install.join(' ')}`])
  const environment = { DEBIAN_FRONTEND: 'noninteractive' }
  await run('Updating the list of Debian packages', 'apt-get', ['update'], environment)
  await run(`Installing ${purposes}`, 'apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...install], environment)
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

function hasVenv() {
  const libraries = existsSync('/usr/bin/python3') ? readdirSync('/usr/lib') : []
  return libraries.some((name) => name.startsWith('python3.') && existsSync(`/usr/lib/${name}/ensurepip`))
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
async function run(title, command, args, environment, detail) {
  const endProgress = startProgress(title, { detail })
  const directory = mkdtempSync(join(tmpdir(), 'graticule-log-'))
  const log = join(directory, 'output')
  const output = openSync(log, 'w')
  const child = spawn(command, args, { stdio: ['ignore', output, output], env: { ...process.env, ...environment } })
  const fault = await new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(message))
    child.on('exit', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  closeSync(output)
  const text = readFileSync(log, 'utf8').trimEnd()
  rmSync(directory, { recursive: true })
  endProgress()
  if (fault !== undefined) fail(`"${command} ${args.join(' ')}" failed: ${fault}`, [text])
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
