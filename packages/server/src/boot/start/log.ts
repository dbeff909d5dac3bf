import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { ApiError } from '../../kernel/errors.ts'
import { prettyLine } from './pretty-log.ts'

/**
 * The log of the process. Each line is masked as a whole, just before it is written, because a credential may hide
 * anywhere in it: in a path, in the message or the cause of an error, in what a library says about an address.
 * `isPretty` is for people at a terminal; otherwise a line is JSON. `base` is in every line.
 */
export function createLogger(
  level: LoggerOptions['level'] & string,
  destination?: DestinationStream,
  isPretty = false,
  base: object | null = null,
): Logger {
  const options: LoggerOptions = {
    level,
    base,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: isPretty ? (line) => prettyLine(masked(line)) : masked },
    serializers: { err: described },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** Serializes an error with its stack, unless it is an expected outcome. */
function described(error: Error): object {
  const { stack, ...rest } = pino.stdSerializers.err(error)
  const code = 'code' in error ? error.code : undefined
  const isForeseen = (error instanceof ApiError && code !== 'internal') || code === 'ERR_STREAM_PREMATURE_CLOSE'
  return isForeseen ? rest : { ...rest, stack }
}

const userInfo = /(\/\/[^\s/:@"]{0,256}:)[^\s/@"]{1,256}@/g
const authorization = /\b(Bearer|Basic)\s+[\w+/=.~-]+/gi
const parameter = /([?&][\w.-]{0,64}(?:key|token|secret|password|signature|sig)=)[^&\s"\\]+/gi
/** A run as long as tokens are, or a member such as `requestId`, which is no credential and is searched for. */
const longRun = /"\w{0,64}Id":"[\w.-]*"|[\w-]{32,}/g
const uuid = /([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi
const tenantSchema = /^app_[\da-f]{32}$/

/** Masks what looks like a credential, in linear time. Two of the forms need a character that most lines do not have. */
export function masked(text: string): string {
  const withoutUser = text.includes('@') ? text.replace(userInfo, '$1…@') : text
  const withoutToken = withoutUser.replace(authorization, '$1 …')
  const withoutParameter = withoutToken.includes('=') ? withoutToken.replace(parameter, '$1…') : withoutToken
  return withoutParameter.replace(longRun, (run) =>
    run.startsWith('"') || tenantSchema.test(run) ? run : maskedRun(run),
  )
}

/**
 * API keys are UUIDs, as the ids of records are: the first digits still tell records apart. Tokens of other kinds have
 * 32 random bytes or more; words of that length have no digits.
 */
function maskedRun(run: string): string {
  const rest = run.replace(uuid, '$1…')
  return rest.length >= 32 && /\d/.test(rest) && /[a-z]/i.test(rest) ? `${run.slice(0, 4)}…` : rest
}
