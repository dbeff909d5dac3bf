/** A key, hidden until it is revealed. */
import { type ReactElement, useState } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { CopyButton } from '../../../components/copyable.tsx'
import classes from '../access.module.css'

const shownEnd = 4

interface KeySecretProps {
  id: string
  name: string
}

export function KeySecret({ id, name }: KeySecretProps): ReactElement {
  const [isShown, setShown] = useState(false)
  return (
    <span className={classes.secret} data-shown={isShown}>
      <code>{isShown ? id : `••••${id.slice(-shownEnd)}`}</code>
      <IconButton
        icon={isShown ? 'eyeOff' : 'eye'}
        label={isShown ? `Hide the key ${name}` : `Reveal the key ${name}`}
        onClick={() => setShown(!isShown)}
      />
      <CopyButton text={id} label={`the key ${name}`} />
    </span>
  )
}
