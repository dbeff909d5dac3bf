import type { ContactPointDriver } from './driver.ts'
import { discord } from './drivers/discord.ts'
import { email } from './drivers/email.ts'
import { googlechat } from './drivers/googlechat.ts'
import { slack } from './drivers/slack.ts'
import { teams } from './drivers/teams.ts'
import { telegram } from './drivers/telegram.ts'
import { webhook } from './drivers/webhook.ts'

const drivers = { discord, email, googlechat, slack, teams, telegram, webhook } satisfies Record<
  string,
  ContactPointDriver
>

export const driverNames = Object.keys(drivers).toSorted()

export function driverOf(type: unknown): ContactPointDriver {
  const driver = Object.hasOwn(drivers, String(type)) ? drivers[type as keyof typeof drivers] : undefined
  if (!driver) throw new Error(`There is no driver ${type}`)
  return driver
}
