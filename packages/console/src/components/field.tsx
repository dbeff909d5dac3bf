/**
 * Form controls. They are native, because those are accessible and need no code. `Field` connects label, hint and error to
 * a control; an entry of the server's `errors` is shown at the field that its `path` names.
 */
import {
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import classes from './field.module.css'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

export interface ControlProps {
  id: string
  className: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

export interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | undefined
  /** Only screen readers get the label. */
  isLabelHidden?: boolean
  className?: string
  children(props: ControlProps): ReactNode
}

export function Field({ label, hint, error, isLabelHidden, className, children }: FieldProps): ReactElement {
  const id = useId()
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={[classes.field, className].filter(Boolean).join(' ')}>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : classes.label}>
        {label}
      </label>
      {children({
        id,
        className: classes.control ?? '',
        ...(describedBy ? { 'aria-describedby': describedBy } : {}),
        ...(error ? { 'aria-invalid': true } : {}),
      })}
      {hint && (
        <div id={`${id}-hint`} className={classes.hint}>
          {hint}
        </div>
      )}
      {error && (
        <div id={`${id}-error`} className={classes.error} role="alert">
          {error}
        </div>
      )}
    </div>
  )
}

type Described = Omit<FieldProps, 'children' | 'className'>

export type TextFieldProps = Described &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & { onChange(value: string): void }

export function TextField({
  label,
  hint,
  error,
  isLabelHidden,
  className,
  onChange,
  ...rest
}: TextFieldProps): ReactElement {
  return (
    <Field {...({ label, hint, error, isLabelHidden, className } as Described)}>
      {(props) => <input type="text" {...rest} {...props} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  )
}

export type TextAreaProps = Described &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'> & { onChange(value: string): void }

export function TextArea({
  label,
  hint,
  error,
  isLabelHidden,
  className,
  onChange,
  ...rest
}: TextAreaProps): ReactElement {
  return (
    <Field {...({ label, hint, error, isLabelHidden, className } as Described)}>
      {(props) => <textarea {...rest} {...props} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  )
}

export type Option<Value extends string = string> = Value | { value: Value; label: string; isDisabled?: boolean }

export type SelectProps<Value extends string> = Described &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange' | 'value'> & {
    value: Value
    options: readonly Option<Value>[]
    onChange(value: Value): void
  }

export function Select<Value extends string>(props: SelectProps<Value>): ReactElement {
  const { label, hint, error, isLabelHidden, className, value, options, onChange, ...rest } = props
  return (
    <Field {...({ label, hint, error, isLabelHidden, className } as Described)}>
      {(control) => (
        <select {...rest} {...control} value={value} onChange={(event) => onChange(event.target.value as Value)}>
          {options.map((option) => {
            const { value: optionValue, label: text, isDisabled = false } = spread(option)
            return (
              <option key={optionValue} value={optionValue} disabled={isDisabled}>
                {text}
              </option>
            )
          })}
        </select>
      )}
    </Field>
  )
}

function spread<Value extends string>(option: Option<Value>): { value: Value; label: string; isDisabled?: boolean } {
  return typeof option === 'string' ? { value: option, label: option } : option
}

export interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'checked' | 'type'> {
  label: ReactNode
  isChecked: boolean
  onChange(isChecked: boolean): void
  /** A switch takes effect at once, a checkbox when the form is submitted. */
  role?: 'checkbox' | 'switch'
}

export function Checkbox({ label, isChecked, onChange, ...rest }: CheckboxProps): ReactElement {
  return (
    <label className={classes.choice}>
      <input {...rest} type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  )
}

export interface SegmentedProps<Value extends string> {
  /** The accessible name. */
  label: string
  value: Value
  options: readonly { value: Value; label: string; icon?: IconName; isDisabled?: boolean }[]
  onChange(value: Value): void
}

/** A segmented control: a few options side by side, one selected. */
export function Segmented<Value extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedProps<Value>): ReactElement {
  const name = useId()
  return (
    <div role="radiogroup" aria-label={label} className={classes.segmented}>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.isDisabled ?? false}
            onChange={() => onChange(option.value)}
          />
          {option.icon && <Icon name={option.icon} />}
          {option.label}
        </label>
      ))}
    </div>
  )
}

export interface SliderProps extends Described {
  value: number
  min: number
  max: number
  step?: number
  onChange(value: number): void
}

export function Slider({
  label,
  hint,
  isLabelHidden = false,
  value,
  min,
  max,
  step = 1,
  onChange,
}: SliderProps): ReactElement {
  return (
    <Field label={label} hint={hint} isLabelHidden={isLabelHidden}>
      {({ className: _, ...props }) => (
        <input
          {...props}
          type="range"
          className={classes.slider}
          value={value}
          min={min}
          max={max}
          step={step}
          onChange={(event) => onChange(event.target.valueAsNumber)}
        />
      )}
    </Field>
  )
}
