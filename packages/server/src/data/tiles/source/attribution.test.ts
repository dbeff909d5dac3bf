import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cleanAttribution } from './attribution.ts'

const link = (address: string, text: string) => `<a href="${address}" target="_blank" rel="noopener">${text}</a>`

describe('an attribution is shown as HTML, so it', () => {
  test('keeps its links and its text', () => {
    assert.equal(
      cleanAttribution('© <a href="https://a.org/c?x=1&y=2">A &amp; B</a>'),
      `© ${link('https://a.org/c?x=1&amp;y=2', 'A &amp; B')}`,
    )
    assert.equal(cleanAttribution("<A class=x HREF='mailto:a@b.org' title=y>us</A>"), link('mailto:a@b.org', 'us'))
    assert.equal(cleanAttribution('<a href=https://a.org>A</a>'), link('https://a.org', 'A'))
    assert.equal(cleanAttribution('&copy; 2026 &#169; a < b && c'), '&copy; 2026 &#169; a &lt; b &amp;&amp; c')
  })

  test('loses everything that could run, and keeps the text around it', () => {
    for (const [text, clean] of [
      ['a<script>alert(1)</script>b', 'aalert(1)b'],
      ['<img src=x onerror=alert(1)>b', 'b'],
      ['<a href="javascript:alert(1)">b</a>', 'b'],
      ['<a href=" java\nscript:alert(1)">b</a>', 'b'],
      ['<a href="&#106;avascript:alert(1)">b</a>', 'b'],
      ['<a href="data:text/html,x">b</a>', 'b'],
      ['<a href="//evil.org">b</a>', 'b'],
      ['<a onclick="x" href="https://a.org" onmouseover=y>b</a>', link('https://a.org', 'b')],
      ['<svg/onload=alert(1)>b', 'b'],
      ['<iframe srcdoc="<script>">b', '"&gt;b'],
      ['<<script>script>b', 'script&gt;b'],
    ] as const) {
      const found = cleanAttribution(text)
      if (text.startsWith('<iframe') || text.startsWith('<<')) assert.ok(!/<(?!\/?a[\s>])/.test(found), found)
      else assert.equal(found, clean)
    }
  })

  test('leaves no tag open and none half written', () => {
    assert.equal(cleanAttribution('<a href="https://a.org">b'), link('https://a.org', 'b'))
    assert.equal(cleanAttribution('a <b'), 'a &lt;b')
    assert.equal(cleanAttribution('</a></a>b'), 'b')
    assert.equal(
      cleanAttribution('<a href="https://a.org"><a href="https://b.org">b</a></a>'),
      link('https://a.org', 'b'),
    )
    assert.equal(cleanAttribution('<script'), '&lt;script')
  })

  test('can break out of no attribute', () => {
    for (const text of [
      `<a href='https://a.org/"onclick="alert(1)'>b</a>`,
      '<a href=https://a.org/"onclick=alert(1)>b</a>',
      `<a href='https://a.org/" autofocus onfocus=alert(1) x="'>b</a>`,
      '<a x="<" href="https://a.org" onclick=">b',
    ]) {
      const found = cleanAttribution(text)
      const rest = found.replaceAll(/<a href="[^"<>]*" target="_blank" rel="noopener">|<\/a>/g, '')
      assert.ok(!/[<>]/.test(rest), found)
    }
  })

  test('says the same when it is cleaned again, and never takes long', () => {
    for (const text of ['© <a href="https://a.org/?a=1&b=2">A & B</a> <', '&lt;script&gt;', 'a &amp;lt; b']) {
      const once = cleanAttribution(text)
      assert.equal(cleanAttribution(once), once)
    }
    const begun = performance.now()
    for (const piece of ['<', '<a ', '<a href=', 'a href="', '&', '<a href="https://a.org" ', ' href', '<a\t'])
      cleanAttribution(piece.repeat(Math.floor(2000 / piece.length)))
    assert.ok(performance.now() - begun < 20_000)
  })
})
