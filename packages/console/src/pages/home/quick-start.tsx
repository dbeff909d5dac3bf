/** The quick start as a dialog. */
import type { ReactElement } from 'react'
import { serverAddress, serverUrl } from '../../address.ts'
import { LinkButton } from '../../components/button.tsx'
import { CodeBlock } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import classes from './home.module.css'
import { quickStartSteps } from './quick-start-steps.ts'

interface QuickStartProps {
  onClose(): void
}

export function QuickStart({ onClose }: QuickStartProps): ReactElement {
  return (
    <Dialog
      isOpen
      kind="wide"
      title="Quick start"
      onClose={onClose}
      actions={
        <LinkButton icon="book" href={serverAddress('api/docs')} target="_blank" rel="noreferrer">
          API documentation
        </LinkButton>
      }
    >
      <ol className={classes.steps}>
        {quickStartSteps(serverUrl).map(({ title, code }, index) => (
          <li key={title}>
            <p>{`${index + 1}. ${title}`}</p>
            <CodeBlock text={code} label={`step ${index + 1}`} />
          </li>
        ))}
      </ol>
    </Dialog>
  )
}
