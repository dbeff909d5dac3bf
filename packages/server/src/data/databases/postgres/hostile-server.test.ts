import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import {
  authenticationOk,
  type ClientMessage,
  complete,
  isSslRequest,
  loggedIn,
  lying,
  message,
  type Rogue,
  ready,
  sayAlways,
  startRogue,
} from '../../../../testing/hostile/rogue-postgres.ts'
import { openPostgres } from '../../../kernel/db/postgres/postgres.ts'
import { sql } from '../../../kernel/db/sql.ts'

// One database is enough: the hostile server is that of a tenant, not the platform’s.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('rogue')
})
after(() => app?.close())

type Talk = Parameters<typeof startRogue>[0]

async function register(port: number, rest: object = {}): Promise<string> {
  const body = { type: 'postgres', name: 'rogue', host: '127.0.0.1', port, user: 'u', password: 'p', db: 'd', ...rest }
  const reply = await app.call('POST', '/api/v1/databases', { key: tenant.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

/** A connection that is not answered is given up after ten seconds; on a busy machine all takes longer. */
const givenUpMs = 60_000

/** Tries a database out with the public key; the process is there afterwards and memory is where it was. */
async function attack(talk: Talk, rest: object = {}) {
  const rogue = await startRogue(talk)
  try {
    const id = await register(rogue.port, rest)
    const before = process.memoryUsage().rss
    const started = performance.now()
    const reply = await app.call('POST', `/api/v1/databases/${id}/test`, { key: tenant.reader })
    assert.equal(reply.status, 200, reply.text)
    assert.ok(performance.now() - started < givenUpMs)
    assert.equal((await app.call('GET', '/api/v1/healthcheck')).status, 200)
    return { body: reply.body, grown: process.memoryUsage().rss - before, connections: rogue.connections }
  } finally {
    await rogue.close()
  }
}

const emptyRow = Buffer.from('4400000004', 'hex')
const unendingError = Buffer.from('450000000553', 'hex')
const columns = message('T', Buffer.concat([Buffer.from('0001', 'hex'), Buffer.from('a\0'), Buffer.alloc(18)]))
const row = (text: string): Buffer => {
  const value = Buffer.from(text)
  const body = Buffer.alloc(6)
  body.writeInt16BE(1, 0)
  body.writeInt32BE(value.length, 2)
  return message('D', Buffer.concat([body, value]))
}

/** Answers to the first statement. */
const wrongAnswers: Record<string, Buffer> = {
  'an empty DataRow': emptyRow,
  'a DataRow that counts more values than it has': message('D', Buffer.from('7fff', 'hex')),
  'a DataRow with a negative count': message('D', Buffer.from('ffff', 'hex')),
  'a DataRow whose value is longer than the message': message('D', Buffer.from('00017fffffff', 'hex')),
  'a DataRow with a length below -1': message('D', Buffer.from('0001fffffff0', 'hex')),
  'a DataRow with bytes behind its values': message('D', Buffer.from('000000', 'hex')),
  'a DataRow without columns': Buffer.concat([row('x'), complete()]),
  'an empty RowDescription': message('T'),
  'a RowDescription that counts columns it does not have': message('T', Buffer.from('7fff', 'hex')),
  'a RowDescription whose name does not end': message(
    'T',
    Buffer.concat([Buffer.from('0001', 'hex'), Buffer.from('a')]),
  ),
  'an ErrorResponse that does not end': unendingError,
  'an ErrorResponse without its last zero': message('E', 'SERROR\0'),
  'an ErrorResponse without fields': message('E'),
  'a CommandComplete that does not end': message('C', 'SET'),
  'a ParameterStatus that does not end': message('S', 'a\0b'),
  'a Notification of two bytes': message('A', 'ab'),
  'a ReadyForQuery without a status': message('Z'),
  'a ReadyForQuery with an unknown status': message('Z', 'Q'),
  'a second login': authenticationOk,
  'a request for a password': message('R', Buffer.from('00000003', 'hex')),
  'a continuation of SCRAM': message('R', Buffer.from('0000000b', 'hex')),
  'a COPY that nobody began': message('G', Buffer.from('000000', 'hex')),
  'a COPY to the client': message('H', Buffer.from('000000', 'hex')),
  'data of a COPY': message('d', 'data'),
  'a message of an unknown kind': message('?'),
  'a length of 0': lying('C', 0),
  'a length of 3': lying('C', 3),
  'a negative length': lying('D', -2),
  'a message that announces 2 GB': lying('D', 0x7fffffff, Buffer.alloc(1000)),
  'an error of 100 MB': lying('E', 100_000_000, 'S'),
  'two answers at once': Buffer.concat([complete(), complete()]),
  'ten thousand notices': Buffer.concat(Array.from({ length: 10_000 }, () => message('N', 'SNOTICE\0Mx\0\0'))),
  'ten thousand commands': Buffer.concat(Array.from({ length: 10_000 }, () => message('C', 'SET\0'))),
  'ten thousand descriptions': Buffer.concat(Array.from({ length: 10_000 }, () => columns)),
  'a row of the wrong width': Buffer.concat([columns, message('D', Buffer.from('0000', 'hex'))]),
}

/** Answers to whoever logs in. */
const wrongLogins: Record<string, Buffer> = {
  ...wrongAnswers,
  'an unsupported kind of login': message('R', Buffer.from('00000007', 'hex')),
  'a login of one byte': message('R', '\0'),
  'a salt of one byte': message('R', Buffer.from('0000000501', 'hex')),
  'a list of mechanisms that does not end': message(
    'R',
    Buffer.concat([Buffer.from('0000000a', 'hex'), Buffer.from('SCRAM')]),
  ),
  'mechanisms that nobody knows': message('R', Buffer.concat([Buffer.from('0000000a', 'hex'), Buffer.from('FOO\0\0')])),
  'a SCRAM that continues before it began': message(
    'R',
    Buffer.concat([Buffer.from('0000000b', 'hex'), Buffer.from('r=')]),
  ),
  'a SCRAM that ends before it began': message('R', Buffer.concat([Buffer.from('0000000c', 'hex'), Buffer.from('v=')])),
  'a key of four bytes': message('K', Buffer.alloc(4)),
  'settings without end': Buffer.concat(Array.from({ length: 10_000 }, (_, n) => message('S', `a${n}\0b\0`))),
  'nothing that is PostgreSQL': Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
}

const answersOnce = (bytes: Uint8Array): Talk => sayAlways(loggedIn, bytes)
const logsInWith = (bytes: Uint8Array): Talk => sayAlways(bytes, ready)

const answersCopy =
  (answer: Uint8Array): Talk =>
  (socket) =>
  ({ code, body }) => {
    const isCopy = code === 'Q' && body.toString().startsWith('COPY')
    if (code === '') socket.write(loggedIn)
    else if (isCopy) socket.write(answer)
    else if (code === 'Q' || code === 'S') socket.write(complete())
  }

describe('a hostile database server', () => {
  for (const [what, bytes] of Object.entries(wrongAnswers)) {
    test(`that answers a statement with ${what} neither ends nor holds up the process`, async () => {
      const { body } = await attack(answersOnce(bytes))
      assert.equal(body.ok, false)
    })
  }

  for (const [what, bytes] of Object.entries(wrongLogins)) {
    test(`that answers a login with ${what} neither ends nor holds up the process`, async () => {
      const { body } = await attack(logsInWith(bytes))
      assert.equal(body.ok, false)
    })
  }

  test('that breaks the protocol is 502 for whoever queries it', async () => {
    const rogue = await startRogue(answersOnce(emptyRow))
    const databaseId = await register(rogue.port)
    for (const body of [
      { type: 'table', source: 'things' },
      { type: 'sql', source: 'SELECT 1 AS one' },
    ]) {
      const reply = await app.call('POST', '/api/v1/datasets', {
        key: tenant.developer,
        body: { name: 'a', ...body, databaseId },
      })
      assert.equal(reply.status, 502, reply.text)
      assert.match(reply.body.detail, /^The database server sent a row without a count\./)
    }
    await rogue.close()
  })

  test('that is no PostgreSQL server is told from one that is not there by no word', async () => {
    const texts = new Set<string>()
    for (const bytes of [wrongLogins['nothing that is PostgreSQL'], emptyRow, unendingError, undefined]) {
      const rogue = await startRogue(bytes ? logsInWith(bytes) : (socket) => () => socket.destroy())
      const body = { name: 'a', type: 'sql', source: 'SELECT 1 AS one', databaseId: await register(rogue.port) }
      if (!bytes) await rogue.close()
      const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
      assert.equal(reply.status, 502, reply.text)
      texts.add(reply.body.detail)
      if (bytes) await rogue.close()
    }
    assert.deepEqual([...texts], ['The database cannot be reached.'])
  })

  test('that never stops sending rows fills no memory', async () => {
    const endless: Talk = (socket) => {
      const rows = Buffer.concat(Array.from({ length: 1_000 }, () => row('x'.repeat(1_000))))
      const pour = (): void => {
        while (socket.writable && socket.write(rows));
      }
      socket.on('drain', pour)
      let statements = 0
      return ({ code }: ClientMessage) => {
        if (code === '') return void socket.write(loggedIn)
        if (code !== 'Q' && code !== 'S') return
        // The settings of the session and of the transaction are answered as they should be.
        if (++statements <= 3) return void socket.write(complete())
        socket.write(Buffer.concat([message('1'), message('2'), columns]))
        pour()
      }
    }
    const { body, grown } = await attack(endless)
    assert.equal(body.ok, false)
    assert.ok(grown < 200 << 20, `${grown >> 20} MB`)
  })

  test('that sends one byte after the other, of a message that never ends, is given up in time', async () => {
    const drip: Talk = (socket) => {
      const timer = setInterval(() => socket.writable && socket.write('x'), 5)
      socket.on('close', () => clearInterval(timer))
      return ({ code }: ClientMessage) =>
        code === '' && void socket.write(Buffer.concat([loggedIn, lying('N', 60_000)]))
    }
    const { body } = await attack(drip)
    assert.equal(body.ok, false)
  })

  for (const [what, talk] of Object.entries<Talk>({
    'says nothing at all': () => () => {},
    'says nothing after the login':
      (socket) =>
      ({ code }) =>
        code === '' && void socket.write(loggedIn),
    'answers the first statement only': (socket) => {
      let statements = 0
      return ({ code }) => {
        if (code === '') socket.write(loggedIn)
        else if (code === 'Q' && statements++ === 0) socket.write(complete())
      }
    },
    'hangs up in the middle of a message': (socket) => () => socket.end(lying('E', 100, 'S')),
    'closes its side and waits':
      (socket) =>
      ({ code }) =>
        code === '' && socket.end(loggedIn),
  })) {
    test(`that ${what} is given up in time`, async () => {
      const { body } = await attack(talk)
      assert.equal(body.ok, false)
    })
  }

  for (const [what, answer] of Object.entries({
    'nothing else': Buffer.from('S'),
    'bytes that were sent before TLS': Buffer.concat([Buffer.from('S'), loggedIn]),
    'an error': message('E', 'SFATAL\0Mno\0\0'),
    'an unending error': unendingError,
    'a refusal': Buffer.from('N'),
  })) {
    test(`that answers a request for TLS with ${what} is not spoken to in clear`, async () => {
      const heard: ClientMessage[] = []
      const talk: Talk = (socket) => (one) => {
        heard.push(one)
        if (isSslRequest(one)) socket.write(answer)
      }
      const { body } = await attack(talk, { metadata: { ssl: 'require' } })
      assert.equal(body.ok, false)
      assert.equal(heard.filter((one) => !isSslRequest(one)).length, 0)
    })
  }

  test('gets no password but its own, even when none is set', async () => {
    process.env.PGPASSWORD = 'of the operator'
    try {
      const heard: string[] = []
      const talk: Talk =
        (socket) =>
        ({ code, body }) => {
          if (code === '') socket.write(message('R', Buffer.from('00000003', 'hex')))
          if (code === 'p') heard.push(body.toString())
          if (code === 'p') socket.end(message('E', 'SFATAL\0C28P01\0Mno\0\0'))
        }
      await attack(talk, { password: '' })
      assert.deepEqual(heard, ['\0'])
    } finally {
      delete process.env.PGPASSWORD
    }
  })

  test('that demands a million rounds of SCRAM is refused', async () => {
    let proofs = 0
    const talk: Talk =
      (socket) =>
      ({ code, body }) => {
        if (code === 'p' && body.includes('p=')) proofs++
        if (code === '')
          socket.write(message('R', Buffer.concat([Buffer.from('0000000a', 'hex'), Buffer.from('SCRAM-SHA-256\0\0')])))
        const [, nonce] = /r=([^,]+)/.exec(body.toString('latin1')) ?? []
        if (code === 'p' && nonce) {
          const first = `r=${nonce}abc,s=c2FsdA==,i=1000000`
          socket.write(message('R', Buffer.concat([Buffer.from('0000000b', 'hex'), Buffer.from(first)])))
        }
      }
    const { body } = await attack(talk)
    assert.equal(body.ok, false)
    assert.equal(proofs, 0, 'it has counted them all')
  })

  for (const [what, answer] of Object.entries({
    rows: Buffer.concat([columns, row('x'), complete('COPY 1')]),
    'a suspended portal': Buffer.concat([message('s'), complete('COPY 1')]),
    'an empty query': Buffer.concat([message('I'), complete('COPY 1')]),
    'a request for data, and an end before they came': Buffer.concat([message('G', '\0\0\0'), complete('COPY x')]),
  })) {
    test(`that answers a COPY with ${what} does not end the process`, async () => {
      const rogue = await startRogue(answersCopy(answer))
      const server = {
        host: '127.0.0.1',
        port: rogue.port,
        user: 'u',
        password: 'p',
        database: 'd',
        ssl: false,
      } as const
      const db = openPostgres({ ...server, owner: 'o', definition: 'd', poolSize: 1, onError: () => {} })
      const lines = async function* () {
        yield '1\n'
      }
      await db.copyIn(sql`COPY t FROM STDIN`, lines()).catch(() => undefined)
      await db.close()
      await rogue.close()
      assert.equal((await app.call('GET', '/api/v1/healthcheck')).status, 200)
    })
  }

  test('leaves no connection behind, however often it breaks the protocol', async () => {
    const rogue: Rogue = await startRogue(answersOnce(emptyRow))
    const id = await register(rogue.port)
    const handles = () => process.getActiveResourcesInfo().filter((one) => one === 'MessagePort').length
    const before = handles()
    for (let round = 0; round < 50; round++) await app.call('POST', `/api/v1/databases/${id}/test`)
    assert.ok(handles() <= before + 2, `${before} → ${handles()}`)
    await rogue.close()
  })
})
