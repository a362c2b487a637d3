import { readFileSync } from 'node:fs';
import { ConfigFault } from '../../config/fault.ts';
import { type SystemUser, succeeds } from '../spawn-detached.ts';

/**
 * Whom the server runs as: ourselves, or, since Postgres refuses root, `postgres` or else `nobody`.
 * null: as ourselves.
 */
export function serverUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find(([candidate]) => candidate === name);
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  const problem = 'not set, and Postgres does not run as root: there is neither a user "postgres" nor "nobody"; set it';
  throw new ConfigFault([{ variable: 'DATABASE_URL', problem }]);
}

/** Whether that user reaches and may write a folder: the system is asked, so access lists and mounts count too. */
export function mayWrite(user: SystemUser | null, folder: string): boolean {
  return succeeds(user, 'test', ['-w', folder, '-a', '-x', folder]);
}

export function mayEnter(user: SystemUser | null, folder: string): boolean {
  return succeeds(user, 'test', ['-x', folder]);
}
