/** A search field whose text is in the URL: it is debounced, and follows Back and Forward. */
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { TextField } from './field.tsx'

const quietMs = 300

export interface SearchFieldProps {
  /** For screen readers. */
  label: string
  placeholder: string
  className?: string
  value: string
  onChange(value: string): void
}

export function SearchField({ value, onChange, ...rest }: SearchFieldProps): ReactElement {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    // Follows Back and Forward, but not its own change coming back, which would overwrite newer input.
    if (value !== sent.current) setText(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      onChange(text)
    }, quietMs)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return <TextField {...rest} type="search" isLabelHidden value={text} onChange={setText} />
}
