/** The kinds of contact points, with the form fields of their settings. */
import type { ContactPoint } from '@graticule/client'
import type { SettingField } from '../../components/settings/setting-values.ts'

export type DriverName = ContactPoint['type']

interface DriverDescription {
  label: string
  fields: readonly SettingField[]
}

const secretBytes = 32

/** As Standard Webhooks writes them. */
function signingSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(secretBytes))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}

const secretUrl = (label: string, hint: string): SettingField => ({
  name: 'url',
  label,
  kind: 'text',
  isSecret: true,
  isRequired: true,
  placeholder: 'https://…',
  hint,
})

export const drivers: Readonly<Record<DriverName, DriverDescription>> = {
  webhook: {
    label: 'Webhook',
    fields: [
      { name: 'url', label: 'Address', kind: 'text', isRequired: true, placeholder: 'https://example.org/hook' },
      { name: 'method', label: 'Method', kind: 'choice', options: ['POST', 'PUT', 'PATCH'], fallback: 'POST' },
      {
        name: 'secret',
        label: 'Signing secret',
        kind: 'text',
        isSecret: true,
        placeholder: 'whsec_…',
        make: signingSecret,
        hint: 'whsec_ and 24 to 64 bytes in base64. Requests are signed with it, as Standard Webhooks say.',
      },
      {
        name: 'headers',
        label: 'Headers',
        kind: 'pairs',
        isSecret: true,
        placeholder: 'Authorization: Bearer …',
        hint: 'One per line. Sealed on the server, never shown again.',
      },
    ],
  },
  email: {
    label: 'E-mail',
    fields: [
      {
        name: 'addresses',
        label: 'Addresses',
        kind: 'lines',
        isRequired: true,
        placeholder: 'anna@example.org',
        hint: 'One per line, 50 at most.',
      },
    ],
  },
  slack: {
    label: 'Slack',
    fields: [
      {
        ...secretUrl('Incoming webhook', 'Either this, or the token of a bot and a channel.'),
        isRequired: false,
        placeholder: 'https://hooks.slack.com/services/…',
      },
      {
        name: 'token',
        label: 'Token of a bot',
        kind: 'text',
        isSecret: true,
        placeholder: 'xoxb-…',
        hint: 'With the scope chat:write.',
      },
      { name: 'channel', label: 'Channel', kind: 'text', placeholder: '#alerts', hint: 'Goes with a token.' },
    ],
  },
  teams: { label: 'Microsoft Teams', fields: [secretUrl('Address of the workflow', 'As Teams shows it.')] },
  discord: { label: 'Discord', fields: [secretUrl('Webhook', 'Of a channel, under Integrations.')] },
  googlechat: { label: 'Google Chat', fields: [secretUrl('Webhook', 'Of a space, under Apps and integrations.')] },
  telegram: {
    label: 'Telegram',
    fields: [
      {
        name: 'botToken',
        label: 'Token of the bot',
        kind: 'text',
        isSecret: true,
        isRequired: true,
        placeholder: '123456:ABC…',
        hint: 'As BotFather gave it.',
      },
      { name: 'chatId', label: 'Chat', kind: 'text', isRequired: true, placeholder: '-100123 or @channel' },
    ],
  },
}

export const isKnownDriver = (name: string): name is DriverName => Object.hasOwn(drivers, name)
