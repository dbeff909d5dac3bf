/** The result as JSON text, truncated if it is long. */
import type { JsonObject } from '@graticule/client'
import { type ReactElement, useMemo } from 'react'
import { CodeEditor } from '../../../../components/code-editor/code-editor.tsx'
import { prettyJson } from '../../../../components/code-editor/pretty-json.ts'
import { CopyButton } from '../../../../components/copyable.tsx'
import { formatNumber } from '../../../../format.ts'
import classes from '../query.module.css'

const mostCharacters = 400_000

interface ResultJsonProps {
  rows: readonly JsonObject[]
}

export function ResultJson({ rows }: ResultJsonProps): ReactElement {
  const { text, shown } = useMemo(() => jsonText(rows), [rows])
  return (
    <div className={classes.fill}>
      <div className={classes.bar}>
        <span className={classes.muted}>
          {shown < rows.length && `The first ${formatNumber(shown)} of ${formatNumber(rows.length)} rows`}
        </span>
        <CopyButton text={JSON.stringify(rows)} label="all rows as JSON" />
      </div>
      <CodeEditor language="json" label="Rows as JSON" value={text} isReadOnly isFilling />
    </div>
  )
}

function jsonText(rows: readonly JsonObject[]): { text: string; shown: number } {
  const lines: string[] = []
  let length = 0
  for (const row of rows) {
    const line = prettyJson(row, 2)
    length += line.length
    if (length > mostCharacters && lines.length > 0) break
    lines.push(`  ${line}`)
  }
  return { text: lines.length > 0 ? `[\n${lines.join(',\n')}\n]` : '[]', shown: lines.length }
}
