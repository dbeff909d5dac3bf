// One line of a terminal that is written over while something is under way; plain lines where there is no terminal.
// Plain JavaScript for Node >= 18, because bootstrap.mjs shows its progress before the Node for everything else is there.

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 100
const eraseLine = '\r\u001b[2K'

/**
 * Shows `title` until the function that it returns is called. That leaves a line that says how long it took, unless
 * `isBrief`. `detail` is asked at every frame for what to say behind the title.
 */
export function startProgress(title, { stream = process.stderr, detail = () => '', isBrief = false } = {}) {
  const startedAt = Date.now()
  const end = () => (isBrief ? '' : `${title}: done in ${Math.ceil((Date.now() - startedAt) / 1000)} s\n`)
  if (!stream.isTTY) {
    if (!isBrief) stream.write(`${title} …\n`)
    return () => void stream.write(end())
  }
  let turn = 0
  const draw = () => {
    const seconds = Math.floor((Date.now() - startedAt) / 1000)
    const line = `${frames[turn++ % frames.length]} ${title} ${detail()} ${seconds} s`
    // A line that wraps could not be written over.
    stream.write(`${eraseLine}${line.slice(0, (stream.columns || 80) - 1)}`)
  }
  draw()
  let timer = setInterval(draw, frameMs)
  return () => {
    if (!timer) return
    clearInterval(timer)
    timer = undefined
    stream.write(`${eraseLine}${end()}`)
  }
}
