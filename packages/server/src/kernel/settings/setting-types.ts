import Type from 'typebox'

export const size = (bytes: number, description: string) =>
  Type.Integer({ minimum: 1_024, default: bytes, description })
export const milliseconds = (fallback: number, description: string) =>
  Type.Integer({ minimum: 10, maximum: 86_400_000, default: fallback, description })
export const seconds = (description: string, fallback: number, maximum: number) =>
  Type.Integer({ minimum: 1, maximum, default: fallback, description: `${description}, in seconds` })
