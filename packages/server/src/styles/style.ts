import Type from 'typebox'
import { defineResource, field, type Resource } from '../resource/resource.ts'
import type { StyleCheck } from './style-check.ts'

const example = {
  name: 'Plain land',
  description: 'One colour, no sources',
  type: 'plain',
  style: {
    version: 8,
    sources: {},
    layers: [{ id: 'land', type: 'background', paint: { 'background-color': '#f4efe6' } }],
  },
}

export const styles = (applications: () => Resource, styleCheck: StyleCheck): Resource =>
  defineResource({
    name: 'styles',
    title: 'Style',
    acl: 'styles',
    bodyLimit: 4 * 1024 * 1024,
    example,
    fields: {
      name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
      description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKept: true }),
      type: field('string', Type.Enum(['plain']), { default: 'plain', isKept: true }),
      style: field(
        'json',
        Type.Object({}, { description: 'A MapLibre style, version 8', additionalProperties: true }),
        {
          required: true,
          queryable: false,
        },
      ),
    },
    joins: { application: { one: applications, field: 'applicationId' } },
    async prepare({ values, leaving }) {
      if (values.style !== undefined) await styleCheck.check(values.style, leaving())
      return values
    },
  })
