/** What the server of the release before could no longer bear while the new schema is already there. */
const contracting: readonly (readonly [RegExp, string])[] = [
  [/\bDROP\s+(?!CONSTRAINT\b|DEFAULT\b|NOT\s+NULL\b|IDENTITY\b|EXPRESSION\b)\w+/i, 'drops something'],
  [/\bRENAME\b/i, 'renames something'],
  [/\bALTER\s+(COLUMN\s+)?("[^"]+"|\w+)\s+(SET\s+DATA\s+)?TYPE\b/i, 'changes the type of a column'],
  [/\bSET\s+NOT\s+NULL\b/i, 'demands a value that the release before need not write'],
  [
    /\bADD\s+(COLUMN\s+)?(IF\s+NOT\s+EXISTS\s+)?("[^"]+"|\w+)\s+(?!KEY\b)[^,;]*\bNOT\s+NULL\b(?![^,;]*\b(DEFAULT|GENERATED)\b)(?<!DEFAULT[^,;]*)/i,
    'adds a column that the release before would have to write',
  ],
  [/(?:^|;|\bBEGIN|\bTHEN|\bLOOP)\s*TRUNCATE\b/i, 'empties a table'],
  [/\bDISABLE\s+TRIGGER\b/i, 'disables triggers'],
]

const compare = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

/**
 * Why a migration must not run while servers of the release before it still serve; undefined when it may. One that contracts says
 * `-- contract after 0.3.0: why`, where 0.3.0 is the last release whose server needs what it takes away: it must be older than the
 * release before the one that brings it.
 */
export function faultOfMigration(text: string, previousRelease: string): string | undefined {
  // What is written in the body of a function does not run now; a DO block does.
  const own = text.replaceAll(/--.*$/gm, '').replaceAll(/\bAS\s+(\$\w*\$)[\s\S]*?\1/gi, '')
  const fault = contracting.find(([pattern]) => pattern.test(own))?.[1]
  if (fault === undefined) return undefined
  const [, after] = /^-- contract after (\d+\.\d+\.\d+): \S/m.exec(text) ?? []
  if (after === undefined) return `it ${fault}, and does not say "-- contract after VERSION: why"`
  return compare(after, previousRelease) < 0
    ? undefined
    : `it ${fault}, while servers of ${previousRelease} may still run`
}

/** The last numbered file that defined functions; they stand in functions/ since. */
const lastWithFunctions = 36

/** Whether a numbered file defines what functions/ is for; one that drops a function says `-- contract after …`, as for a table. */
export const definesFunctions = (number: number, text: string): boolean =>
  number > lastWithFunctions &&
  /\b(CREATE|ALTER)\s+(OR\s+REPLACE\s+)?(FUNCTION|PROCEDURE|ROUTINE|AGGREGATE|(CONSTRAINT\s+|EVENT\s+)?TRIGGER)\b/i.test(
    text.replaceAll(/--.*$/gm, ''),
  )

/** The names of functions and triggers that texts define. */
export const definedNames = (texts: readonly string[]): Set<string> =>
  new Set(
    texts
      .flatMap((text) => [...text.matchAll(/^CREATE (?:OR REPLACE )?(?:FUNCTION svc\.|TRIGGER )(\w+)/gm)])
      .map(([, name]) => name ?? ''),
  )
