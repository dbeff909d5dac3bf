import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { validator } from '../../api/http/input/validate.ts'
import { invalid } from '../../kernel/errors.ts'
import type { ContactPointDriver, Settings } from './driver.ts'

/** Settings, split into public and encrypted ones. */
export type SplitSettings = { readonly plain: Settings; readonly secret: Settings }

type Change = {
  readonly driver: ContactPointDriver
  /** The previous settings, if the type is the same. */
  readonly previous?: SplitSettings
  /** The new settings; a secret that is left out stays. */
  readonly next: Settings
  /** Secrets that are taken away. */
  readonly removed: readonly string[]
}

/** The settings after a change, checked. */
export function changeSettings({ driver, previous, next, removed }: Change): SplitSettings {
  const isSecret = (name: string) => driver.secretFields.includes(name)
  const entries = Object.entries(next).filter(([, value]) => value !== null)
  const plain = Object.fromEntries(entries.filter(([name]) => !isSecret(name)))
  const fresh = Object.fromEntries(entries.filter(([name]) => isSecret(name)))
  const kept = Object.entries(previous?.secret ?? {}).filter(
    ([name]) => !removed.includes(name) && next[name] === undefined,
  )
  for (const [name] of kept) {
    const place = driver.boundTo?.[name]
    if (place && previous && originOf(previous.plain[place]) !== originOf(plain[place])) {
      throw invalid(`body/settings/${name}`, `is required when ${place} changes to another place`)
    }
  }
  const secret = { ...Object.fromEntries(kept), ...fresh }
  const whole = { ...plain, ...secret }
  validator(driver.settings, 'body/settings')(whole)
  driver.check?.(whole)
  return { plain, secret }
}

const originOf = (url: unknown): string | undefined => URL.parse(String(url))?.origin

export function sealSettings(secrets: Secrets, secret: Settings, place: string): string | null {
  return Object.keys(secret).length === 0 ? null : secrets.seal(JSON.stringify(secret), place)
}

export const openSettings = (secrets: Secrets, sealed: string | null, place: string): Settings =>
  sealed === null ? {} : JSON.parse(secrets.open(sealed, place))

/** The associated data of the encryption: settings copied to another application or type do not decrypt. */
export const settingsAssociatedData = (applicationId: string, type: unknown): string =>
  JSON.stringify(['contactpoints.secrets', applicationId, type])
