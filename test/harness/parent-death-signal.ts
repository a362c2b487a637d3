import { existsSync } from 'node:fs';

/** Of util-linux. On other systems a child can outlive us. */
const SETPRIV = '/usr/bin/setpriv';

/** The command as a child that the kernel kills with us, whatever ends us: a run that is cut off leaves no service behind. */
export function withParentDeathSignal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return existsSync(SETPRIV) ? [SETPRIV, ['--pdeathsig', 'KILL', command, ...args]] : [command, [...args]];
}
