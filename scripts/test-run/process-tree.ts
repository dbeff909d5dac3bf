import { execFileSync } from 'node:child_process'

interface Process {
  pid: number
  parent: number
  command: string
}

// Kills the children of a process whose command has `text` in it, and what they have started.
export function endDescendants(parent: number, text: string): void {
  const processes = listProcesses()
  const childrenOf = (pid: number): number[] =>
    processes.filter((one) => one.parent === pid).flatMap((child) => [child.pid, ...childrenOf(child.pid)])
  const roots = processes.filter((one) => one.parent === parent && one.command.includes(text)).map(({ pid }) => pid)
  for (const pid of roots.flatMap((root) => [root, ...childrenOf(root)])) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
}

function listProcesses(): Process[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [pid = '', parent = '', ...command] = line.trim().split(/\s+/)
    return { pid: Number(pid), parent: Number(parent), command: command.join(' ') }
  })
}
