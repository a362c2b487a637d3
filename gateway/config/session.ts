import { readFile } from 'node:fs/promises';
import { Secret } from '../../schema/secret.ts';
import { OperatorFault } from './fault.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The session that a command acts by: a file's first line, or SVC_SESSION. Never an argument, which every process of the
 * machine can read. @throws OperatorFault where there is none
 */
export async function givenSession(file: string | undefined, environment: Environment = process.env): Promise<Secret> {
  const text = file === undefined ? environment.SVC_SESSION : await readFile(file, 'utf8').catch(unreadable(file));
  const [session = ''] = (text ?? '').trim().split('\n');
  if (session === '') throw new OperatorFault('no session: give it in SVC_SESSION, or in a file by --session-file');
  return new Secret(session);
}

function unreadable(file: string) {
  return ({ code }: NodeJS.ErrnoException): never => {
    throw new OperatorFault(`${file}: the session cannot be read (${code})`);
  };
}
