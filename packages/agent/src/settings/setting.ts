/** A setting and its origin: a flag, an environment variable or a member of the file. An empty text counts as unset. */
export type Setting = { readonly where: string; readonly what: string | readonly Setting[] | Members }
export type Members = ReadonlyMap<string, Setting>
export type Env = Readonly<Record<string, string | undefined>>

type ReadSetting<Value> = (setting: Setting) => Value
/** The parser of each member. */
export type Shape<Value> = { readonly [Name in keyof Value]-?: ReadSetting<Exclude<Value[Name], undefined>> }

/** An invalid command line or settings file; the message says where and why. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

// Messages name the place of a value, never the value, because it may be a secret.
export const text: ReadSetting<string> = ({ where, what }) => {
  if (typeof what === 'string') return what
  throw new UsageError(`${where} must be text.`)
}

export const wholeNumber =
  (least: number, most: number): ReadSetting<number> =>
  ({ where, what }) => {
    const value = typeof what === 'string' && /^\d{1,9}$/.test(what) ? Number(what) : Number.NaN
    if (value >= least && value <= most) return value
    throw new UsageError(`${where} must be a whole number from ${least} to ${most}.`)
  }

export const yesOrNo: ReadSetting<boolean> = ({ where, what }) => {
  if (what === 'true' || what === 'false') return what === 'true'
  throw new UsageError(`${where} must be true or false.`)
}

export const address: ReadSetting<string> = (setting) => {
  const value = text(setting)
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value
  throw new UsageError(`${setting.where} must be an http or https address.`)
}

/** OLLAMA_HOST may lack the scheme and the port, and may be the address that Ollama listens on (0.0.0.0). */
export const ollamaAddress: ReadSetting<string> = (setting) => {
  const host = text(setting)
  const hasScheme = /^https?:\/\//.test(host)
  const url = new URL(address({ ...setting, what: hasScheme ? host : `http://${host}` }))
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && !hasScheme) url.port = '11434'
  return url.href
}

export const texts: ReadSetting<Record<string, string>> = (setting) =>
  Object.fromEntries([...membersOf(setting)].map(([name, value]) => [name, text(value)]))

export const headers: ReadSetting<Record<string, string>> = (setting) => {
  for (const [name, value] of membersOf(setting)) {
    if (!isHeader(name, text(value))) throw new UsageError(`${value.where} must be a valid HTTP header.`)
  }
  return texts(setting)
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]])
    return true
  } catch {
    return false
  }
}

export function membersOf({ where, what }: Setting): Members {
  if (what instanceof Map) return what
  if (what === '') return new Map()
  throw new UsageError(`${where} must be a map of names and values.`)
}

export function listOf({ where, what }: Setting, most: number): readonly Setting[] {
  if (Array.isArray(what) && what.length >= 1 && what.length <= most) return what
  throw new UsageError(`${where} must be a list of 1 to ${most} items.`)
}

/** Refuses unknown members, which would have no effect. */
export function allowOnly(names: readonly string[], members: Members, owner: string): void {
  for (const [name, { where }] of members) {
    if (!names.includes(name)) throw new UsageError(`${where} is not known. Allowed in ${owner}: ${names.join(', ')}.`)
  }
}

/** Parses the given members. */
export function readMembers<Value extends object>(shape: Shape<Value>, members: Members): Partial<Value> {
  const read = Object.entries<ReadSetting<unknown>>(shape).flatMap(([name, readMember]) => {
    const setting = members.get(name)
    return setting && setting.what !== '' ? [[name, readMember(setting)]] : []
  })
  return Object.fromEntries(read)
}

/** Merges settings from several origins: later ones win unless they are empty. */
export const layered = (...layers: readonly Iterable<readonly [string, Setting]>[]): Members =>
  new Map(layers.flatMap((layer) => [...layer]).filter(([, { what }]) => what !== ''))

/** Members from environment variables. */
export function fromVariables<Name extends string>(
  variables: Readonly<Partial<Record<Name, string>>>,
  env: Env,
): Members {
  const named = Object.entries(variables) as [Name, string][]
  return new Map(named.map(([name, where]) => [name, { where, what: env[where] ?? '' }]))
}
