/** The filter bar: a chip for each part, which opens its form, and a button to add one. */
import { type ReactElement, useState } from 'react'
import { Button, IconButton } from '../../../../components/button.tsx'
import { Popover } from '../../../../components/popup/popover.tsx'
import { useDataset } from '../../dataset.ts'
import { describePart, isCustom, type Part } from '../../filter.ts'
import { defaultOperator } from '../../operators.ts'
import { ConditionForm } from './condition-form.tsx'
import classes from './filter-bar.module.css'
import { useFilterParts } from './filter-parts.ts'
import { JsonForm } from './json-form.tsx'

export interface FilterBarProps {
  /** The attribute to filter by, requested from a column's menu. */
  wanted: string | null
  onWanted(attribute: string | null): void
}

export function FilterBar({ wanted, onWanted }: FilterBarProps): ReactElement {
  const { parts, types, setPart } = useFilterParts()
  return (
    <fieldset className={classes.bar}>
      <legend className="visually-hidden">Filter</legend>
      {parts.map((part, place) => (
        <span key={place} className={classes.chip}>
          <PartPopover place={place} part={part} text={describePart(part, types)} />
          <IconButton
            icon="close"
            label={`Remove ${describePart(part, types)}`}
            className={classes.remove ?? ''}
            onClick={() => setPart(place, null)}
          />
        </span>
      ))}
      <AddPart key={wanted} wanted={wanted} onWanted={onWanted} />
      <WholeFilter />
    </fieldset>
  )
}

interface PartPopoverProps {
  place: number
  part: Part
  text: string
}

function PartPopover({ place, part, text }: PartPopoverProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { setPart } = useFilterParts()
  const close = () => setOpen(false)
  return (
    <Popover
      label="Condition"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button variant="ghost" className={classes.text ?? ''} title={text}>
          {text}
        </Button>
      }
    >
      {isCustom(part) ? (
        <JsonForm
          value={part.custom}
          onApply={(custom) => {
            setPart(place, custom ? { custom } : null)
            close()
          }}
        />
      ) : (
        <ConditionForm part={part} onPart={(next, isStep) => setPart(place, next, isStep)} onDone={close} />
      )}
    </Popover>
  )
}

function AddPart({ wanted, onWanted }: FilterBarProps): ReactElement {
  const { parts, setPart } = useFilterParts()
  const { attributes } = useDataset()
  const [isOpen, setOpen] = useState(wanted !== null)
  // After it is applied, it is the last part, and the form edits that.
  const [place, setPlace] = useState<number | null>(null)
  const attribute = attributes.find(({ name }) => name === wanted) ?? attributes.find(({ primaryKey }) => !primaryKey)
  const change = (next: boolean) => {
    setOpen(next)
    if (next) return
    setPlace(null)
    onWanted(null)
  }
  const first = attribute ?? attributes[0]
  return (
    <Popover
      label="New condition"
      isOpen={isOpen}
      onOpenChange={change}
      trigger={
        <Button variant="ghost" icon="plus">
          Condition
        </Button>
      }
    >
      {first && (
        <ConditionForm
          part={{ any: [{ attribute: first.name, operator: defaultOperator(first.type), values: [] }] }}
          onPart={(part) => {
            const at = place ?? parts.length
            setPart(at, part, place === null)
            setPlace(at)
          }}
          onDone={() => change(false)}
        />
      )}
    </Popover>
  )
}

function WholeFilter(): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { parts, replace, where } = useFilterParts()
  return (
    <span className={classes.whole}>
      {parts.length > 1 && (
        <Button variant="ghost" onClick={() => replace(undefined)}>
          Clear
        </Button>
      )}
      <Popover
        label="The filter as JSON"
        isOpen={isOpen}
        onOpenChange={setOpen}
        trigger={<IconButton icon="braces" label="Edit the filter as JSON" />}
      >
        <JsonForm
          value={where ?? {}}
          onApply={(next) => {
            replace(next)
            setOpen(false)
          }}
        />
      </Popover>
    </span>
  )
}
