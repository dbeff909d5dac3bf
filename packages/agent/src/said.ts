/** What somebody said, and where: by a flag, a variable or a member of a file. Nothing was said with an empty text. */
export type Said = { readonly where: string; readonly what: string | readonly Said[] | Members }
export type Members = ReadonlyMap<string, Said>
export type Env = Readonly<Record<string, string | undefined>>

type Read<Value> = (said: Said) => Value
/** How each member is read. */
export type Shape<Value> = { readonly [Name in keyof Value]-?: Read<Exclude<Value[Name], undefined>> }

/** The command line or its file is wrong; the message says where and how. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

// Values may be secrets: messages say where they are and not what.
export const text: Read<string> = ({ where, what }) => {
  if (typeof what === 'string') return what
  throw new UsageError(`${where} must be text.`)
}

export const wholeNumber =
  (least: number, most: number): Read<number> =>
  ({ where, what }) => {
    const value = typeof what === 'string' && /^\d{1,9}$/.test(what) ? Number(what) : Number.NaN
    if (value >= least && value <= most) return value
    throw new UsageError(`${where} must be a whole number from ${least} to ${most}.`)
  }

export const yesOrNo: Read<boolean> = ({ where, what }) => {
  if (what === 'true' || what === 'false') return what === 'true'
  throw new UsageError(`${where} must be true or false.`)
}

export const address: Read<string> = (said) => {
  const value = text(said)
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value
  throw new UsageError(`${said.where} must be an http or https address.`)
}

/** Ollama's own variable may leave out the scheme and the port, and may be the address it listens on. */
export const ollamaAddress: Read<string> = (said) => {
  const host = text(said)
  const hasScheme = /^https?:\/\//.test(host)
  const url = new URL(address({ ...said, what: hasScheme ? host : `http://${host}` }))
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && !hasScheme) url.port = '11434'
  return url.href
}

export const texts: Read<Record<string, string>> = (said) =>
  Object.fromEntries([...membersOf(said)].map(([name, value]) => [name, text(value)]))

export const headers: Read<Record<string, string>> = (said) => {
  for (const [name, value] of membersOf(said)) {
    if (!isHeader(name, text(value))) throw new UsageError(`${value.where} must be a valid HTTP header.`)
  }
  return texts(said)
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]])
    return true
  } catch {
    return false
  }
}

export function membersOf({ where, what }: Said): Members {
  if (what instanceof Map) return what
  if (what === '') return new Map()
  throw new UsageError(`${where} must be a map of names and values.`)
}

export function listOf({ where, what }: Said, most: number): readonly Said[] {
  if (Array.isArray(what) && what.length >= 1 && what.length <= most) return what
  throw new UsageError(`${where} must be a list of 1 to ${most} items.`)
}

/** Refuses members that would have no effect. */
export function allowOnly(names: readonly string[], members: Members, owner: string): void {
  for (const [name, { where }] of members) {
    if (!names.includes(name)) throw new UsageError(`${where} is not known. Allowed in ${owner}: ${names.join(', ')}.`)
  }
}

/** The members that were said, each read as its shape says. */
export function readMembers<Value extends object>(shape: Shape<Value>, members: Members): Partial<Value> {
  const read = Object.entries<Read<unknown>>(shape).flatMap(([name, readMember]) => {
    const said = members.get(name)
    return said && said.what !== '' ? [[name, readMember(said)]] : []
  })
  return Object.fromEntries(read)
}

/** What is said in several places: later ones win, if they say anything. */
export const layered = (...layers: readonly Iterable<readonly [string, Said]>[]): Members =>
  new Map(layers.flatMap((layer) => [...layer]).filter(([, { what }]) => what !== ''))

/** Members that variables of the environment give. */
export function fromVariables<Name extends string>(
  variables: Readonly<Partial<Record<Name, string>>>,
  env: Env,
): Members {
  const named = Object.entries(variables) as [Name, string][]
  return new Map(named.map(([name, where]) => [name, { where, what: env[where] ?? '' }]))
}
