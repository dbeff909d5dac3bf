// Content negotiation: JSON for programs, HTML for people. `f` comes before Accept; nothing, or `*/*`, means JSON.
import Type from 'typebox'

export const formParameter = Type.Optional(
  Type.Enum(['json', 'html'], { description: 'The form of the answer; the Accept header is asked otherwise' }),
)

export const formQuery = Type.Object({ f: formParameter })

export type Form = 'json' | 'html'

type Preference = { readonly type: string; readonly quality: number }

export function chooseForm(wanted: Form | undefined, accept: string | undefined): Form {
  if (wanted) return wanted
  const [best] = preferences(accept ?? '')
    .filter(({ type, quality }) => quality > 0 && (isHtml(type) || isJson(type)))
    .sort((one, other) => other.quality - one.quality)
  return best && isHtml(best.type) ? 'html' : 'json'
}

/** Whether a type is accepted by its name, not by a wildcard. */
export const isNamed = (accept: string | undefined, type: string): boolean =>
  preferences(accept ?? '').some((one) => one.type === type && one.quality > 0)

const isHtml = (type: string): boolean => type === 'text/html' || type === 'application/xhtml+xml'

const isJson = (type: string): boolean => /^(\*|application)\/(\*|([\w.-]+\+)?json)$/.test(type)

function preferences(accept: string): Preference[] {
  return accept
    .toLowerCase()
    .split(',')
    .map((item) => {
      const [type = '', ...parameters] = item.split(';').map((part) => part.trim())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
    })
}
