/** Selects a colour ramp; suitable kinds come first. */

import { type RampKind, type RampName, rampColours, ramps, type Theme } from '@graticule/map/recipe'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../../components/button.tsx'
import { Checkbox } from '../../../../components/field.tsx'
import { Popover } from '../../../../components/popup/popover.tsx'
import classes from '../panel.module.css'

interface RampChoiceProps {
  ramp: RampName
  isReversed: boolean
  count: number
  theme: Theme
  kinds: readonly RampKind[]
  onChange(change: { ramp?: RampName; isReversed?: boolean }): void
}

const titles: Record<RampKind, string> = {
  sequential: 'From low to high',
  diverging: 'Away from a middle',
  qualitative: 'Different things',
}

export function RampChoice({ ramp, isReversed, count, theme, kinds, onChange }: RampChoiceProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const shown = (name: RampName) => (
    <Ramp colours={rampColours(Math.max(count, 2), { ramp: name, isReversed, theme })} />
  )
  return (
    <div className={classes.row}>
      <Popover
        label="Colour ramps"
        isOpen={isOpen}
        onOpenChange={setOpen}
        trigger={
          <Button aria-label={`Colour ramp: ${ramp}`} className={classes.rampButton}>
            {shown(ramp)}
          </Button>
        }
      >
        <div className={classes.rampList}>
          {kinds.map((kind) => (
            <section key={kind}>
              <h3>{titles[kind]}</h3>
              {ramps
                .filter((one) => one.kind === kind)
                .map(({ name }) => (
                  <button
                    key={name}
                    type="button"
                    className={classes.rampItem}
                    aria-pressed={name === ramp}
                    onClick={() => {
                      onChange({ ramp: name })
                      setOpen(false)
                    }}
                  >
                    {name}
                    {shown(name)}
                  </button>
                ))}
            </section>
          ))}
        </div>
      </Popover>
      <Checkbox label="Reverse" isChecked={isReversed} onChange={(next) => onChange({ isReversed: next })} />
    </div>
  )
}

const Ramp = ({ colours }: { colours: readonly string[] }): ReactElement => (
  <span aria-hidden="true" className={classes.ramp}>
    {colours.map((colour, index) => (
      <span key={`${index} ${colour}`} style={{ background: colour }} />
    ))}
  </span>
)
