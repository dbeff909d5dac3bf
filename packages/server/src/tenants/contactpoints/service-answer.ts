import type { Settings, Verdict } from './driver.ts'

export type ServiceAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}
export type ServiceVerdict = Verdict & { readonly statusCode: number }

/** Statuses that are worth a retry. */
const transient = [408, 425, 429]
const maxTextLength = 500

/** Decides from the answer of a service whether the message was delivered, and if not, whether to retry. */
export function judgeAnswer(
  { status, headers, body }: ServiceAnswer,
  secret: Settings,
  judge: (answer: unknown) => Verdict = () => ({}),
): ServiceVerdict {
  // Before it is truncated, which might leave half a secret.
  const text = withoutSecrets(body.toString('utf8'), secret)
  const verdict = judge(parsed(text))
  if (status >= 200 && status < 300) return { statusCode: status, ...verdict }
  const retryAfterSeconds = verdict.retryAfterSeconds ?? retryAfter(headers['retry-after'])
  return {
    statusCode: status,
    error:
      status >= 300 && status < 400
        ? `The service redirects (${status}), which is not followed`
        : refusalText(status, text),
    isFinal: status < 500 && !transient.includes(status),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}

function refusalText(status: number, text: string): string {
  const isText = !/[\ufffd\0]/.test(text)
  const words = isText ? text.replace(/\s+/g, ' ').trim().slice(0, maxTextLength) : ''
  return `The service answered ${status}${words && `: ${words}`}`
}

/** Seconds or a date. */
function retryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return seconds > 0 ? Math.ceil(seconds) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Removes secrets, because an error message may echo the request. */
export function withoutSecrets(text: string, secret: Settings): string {
  const words = new Set(leaves(secret).flatMap(formsOf))
  return [...words]
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, word) => rest.replaceAll(word, '[secret]'), text)
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}

/** The whole secret, and the parts of it that are long enough to be secret themselves. */
function formsOf(text: string): string[] {
  const parts = text.split(/[\s/?&=:]+|whsec_/).filter((part) => part.length >= 8)
  const whole = text.length >= 4 ? [text] : []
  return [...whole, ...parts].flatMap((form) => [
    form,
    decoded(form),
    encodeURIComponent(form),
    JSON.stringify(form).slice(1, -1),
  ])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
