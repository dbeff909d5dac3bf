import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureFault } from '../../../../testing/peers/s3-server.ts'
import { signedHeaders } from './s3-signature.ts'

// The examples that Amazon publishes in "Authenticating Requests: Using the Authorization Header".
const key = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const date = new Date('2013-05-24T00:00:00Z')
const region = 'us-east-1'
type Example = {
  title: string
  path: string
  query: Record<string, string>
  headers: Record<string, string>
  signature: string
}
const examples: Example[] = [
  {
    title: 'an object in parts',
    path: '/test.txt',
    query: {},
    headers: { range: 'bytes=0-9' },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    title: 'a parameter without a value',
    path: '/',
    query: { lifecycle: '' },
    headers: {},
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    title: 'a listing',
    path: '/',
    query: { 'max-keys': '2', prefix: 'J' },
    headers: {},
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
]

for (const { title, path, query, headers, signature } of examples) {
  test(`the signature of ${title} is the one that Amazon publishes`, async () => {
    const search = new URLSearchParams(query).toString()
    const url = new URL(`https://examplebucket.s3.amazonaws.com${path}${search && `?${search}`}`)
    const sent = await signedHeaders({ url, query, headers }, { key, region, date })
    assert.ok(sent.authorization?.endsWith(`Signature=${signature}`), sent.authorization)
    assert.equal('host' in sent, false)
    // The server of these tests agrees, and refuses another secret, region and time.
    const request = { method: 'GET', url: `${path}?${search}`, headers: { ...sent, host: url.host } }
    const known = { id: key.accessKeyId, secret: key.secretAccessKey }
    const at = date.getTime()
    assert.equal(signatureFault(request, known, region, at), undefined)
    assert.equal(signatureFault(request, { ...known, secret: 'x' }, region, at), 'SignatureDoesNotMatch')
    assert.equal(signatureFault(request, known, 'eu-west-1', at), 'AuthorizationHeaderMalformed')
    assert.equal(signatureFault(request, known, region, at + 3_600_000), 'RequestTimeTooSkewed')
  })
}
