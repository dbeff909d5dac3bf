/** Buttons, and links that look like buttons. A disabled button stays visible and shows why it is disabled. */
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactElement, ReactNode, Ref } from 'react'
import classes from './button.module.css'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import { Tooltip } from './popup/tooltip.tsx'

export type ButtonVariant = 'plain' | 'primary' | 'danger' | 'ghost'

interface Look {
  variant?: ButtonVariant | undefined
  icon?: IconName | undefined
}

export interface ButtonProps extends Look, ButtonHTMLAttributes<HTMLButtonElement> {
  /** Why the button is disabled: shown as a tooltip; the button stays focusable. */
  disabledReason?: string | undefined
  ref?: Ref<HTMLButtonElement>
}

export const buttonClass = (variant: ButtonVariant = 'plain', ...more: (string | false | undefined)[]): string =>
  [classes.button, variant !== 'plain' && classes[variant], ...more].filter(Boolean).join(' ')

export function Button({ variant, icon, disabledReason, className, children, ...rest }: ButtonProps): ReactElement {
  const button = (
    <button
      type="button"
      {...rest}
      {...(disabledReason ? { 'aria-disabled': true, onClick: (event) => event.preventDefault() } : {})}
      className={buttonClass(variant, className)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
  return disabledReason ? <Tooltip text={disabledReason}>{button}</Tooltip> : button
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  icon: IconName
  /** The accessible name, also shown as a tooltip. */
  label: string
  isPressed?: boolean | undefined
}

export function IconButton({
  icon,
  label,
  isPressed,
  variant = 'ghost',
  disabledReason,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={disabledReason ?? label}>
      <button
        type="button"
        aria-label={label}
        {...(isPressed === undefined ? {} : { 'aria-pressed': isPressed })}
        {...rest}
        {...(disabledReason ? { 'aria-disabled': true, onClick: (event) => event.preventDefault() } : {})}
        className={buttonClass(variant, classes.iconOnly, isPressed && classes.pressed, className)}
      >
        <Icon name={icon} />
      </button>
    </Tooltip>
  )
}

export interface LinkButtonProps extends Look, AnchorHTMLAttributes<HTMLAnchorElement> {
  children?: ReactNode
}

/** For URLs outside the console; within it, pass `buttonClass()` to the router's `Link`. */
export function LinkButton({ variant, icon, children, className, ...rest }: LinkButtonProps): ReactElement {
  return (
    <a {...rest} className={buttonClass(variant, className)}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}
