/** Text with a button that copies it. */
import { type ReactElement, useState } from 'react'
import { IconButton } from './button.tsx'
import classes from './note.module.css'

interface CopyButtonProps {
  text: string
  label: string
}

export function CopyButton({ text, label }: CopyButtonProps): ReactElement {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return <IconButton icon={isCopied ? 'check' : 'copy'} label={isCopied ? 'Copied' : `Copy ${label}`} onClick={copy} />
}

export interface CopyableProps {
  text: string
  /** Describes the text: "request id". */
  label: string
  /** Text in front of it. */
  before?: string
}

export function Copyable({ text, label, before }: CopyableProps): ReactElement {
  return (
    <span className={classes.copyable}>
      {before}
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  )
}

interface CodeBlockProps {
  text: string
  label: string
}

export function CodeBlock({ text, label }: CodeBlockProps): ReactElement {
  return (
    <div className={classes.codeBlock}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <CopyButton text={text} label={label} />
    </div>
  )
}
