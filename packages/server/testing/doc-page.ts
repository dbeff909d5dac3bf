import { readFile } from 'node:fs/promises'

/** A page of the documentation, taken apart: what a reader would copy and the links a reader would follow. */
export interface DocPage {
  blocks: Block[]
  links: string[]
  /** The anchors that GitHub gives the headings. */
  anchors: Set<string>
}

export interface Block {
  language: string
  /** What not every machine has, from ```sh needs=…. */
  needs: string | undefined
  /** From a first line such as `# towns.csv`: what follows is the file of that name. */
  fileName: string | undefined
  text: string
  line: number
}

const fence = /^```([^\n]*)\n([\s\S]*?)^```$/gm

export async function readDocPage(path: string): Promise<DocPage> {
  const markdown = await readFile(path, 'utf8')
  const blocks: Block[] = []
  const prose = markdown.replaceAll(fence, (_, info: string, content: string, at: number) => {
    const [language = '', needs] = info.split(' needs=')
    const fileName = /^(?:#|\/\/|--|<!--) ([\w-]+\.\w+)(?: -->)?\n/.exec(content)?.[1]
    const text = fileName ? content.slice(content.indexOf('\n') + 1) : content
    blocks.push({ language, needs, fileName, text, line: markdown.slice(0, at).split('\n').length + 1 })
    return ''
  })
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string)
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading as string))
  return { blocks, links, anchors: new Set(headings) }
}

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
