import { existsSync } from 'node:fs';

/** Part of util-linux. On other systems a child can outlive this process. */
const SETPRIV = '/usr/bin/setpriv';

/**
 * The command as a child that the kernel kills when this process ends for any reason, so that a run that was killed leaves no service
 * behind.
 */
export function withParentDeathSignal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return existsSync(SETPRIV) ? [SETPRIV, ['--pdeathsig', 'KILL', command, ...args]] : [command, [...args]];
}
