/** In one line, what somebody would see by the rules with the one whose form is open. */
import type { ReactElement } from 'react'
import { faultOf } from '../../../../components/error-note.tsx'
import { useDataset } from '../../dataset.ts'
import type { Rule } from '../rule.ts'
import classes from '../rules.module.css'
import { seenWords } from './result-words.ts'
import { usePreview } from './use-preview.ts'
import type { Viewer } from './viewer.ts'

export interface PreviewLineProps {
  rules: readonly Rule[]
  viewer: Viewer
}

export function PreviewLine({ rules, viewer }: PreviewLineProps): ReactElement {
  const { result, error, isLate } = usePreview(useDataset(), rules, viewer)
  return (
    <p role="status" aria-busy={isLate} className={error ? classes.asked : classes.muted}>
      {error ? wrongWords(error) : result ? `By these rules: ${seenWords(result.viewer, result.answer)}` : '…'}
    </p>
  )
}

function wrongWords(error: unknown): string {
  const { message, fields } = faultOf(error)
  return fields[0] ? `${fields[0].path} ${fields[0].message}` : message
}
