import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { Secret } from '../../schema/secret.ts';
import { OperatorFault } from './fault.ts';

/* Inputs of commands in addition to their arguments: the state folder, a session, the key of a wallet. */

/**
 * The folder for a command's state: below XDG_STATE_HOME, or ~/.local/state if that is unset (XDG Base Directory Specification). It
 * is never in the checkout, where it could be published or deleted.
 */
export function stateFolder(name: string): string {
  const { XDG_STATE_HOME } = process.env;
  const home = XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local', 'state');
  return join(home, 'spend-receipt-gateway', name);
}

/**
 * The session of a command: the first line of a file, or SVC_SESSION. It is never an argument, because every process on the machine
 * can read arguments. @throws OperatorFault if it is missing
 */
export async function readSession(file: string | undefined): Promise<Secret> {
  const text = file === undefined ? process.env.SVC_SESSION : await readFile(file, 'utf8').catch(unreadable(file));
  const [session = ''] = (text ?? '').trim().split('\n');
  if (session === '')
    throw new OperatorFault(
      'the session of the book is missing: set SVC_SESSION, or name a file that contains it with --session-file',
    );
  return new Secret(session);
}

function unreadable(file: string) {
  return ({ code }: NodeJS.ErrnoException): never => {
    throw new OperatorFault(`--session-file ${file} cannot be read (${code}); check the path and its permissions`);
  };
}

/**
 * The wallet key that a command signs with, WALLET_KEY; null if it is unset. It is never an argument, because every process on the
 * machine can read arguments. @throws OperatorFault if it is not a key; the message does not contain it
 */
export function readWalletKey(): Secret | null {
  const text = process.env.WALLET_KEY?.trim() ?? '';
  if (text === '') return null;
  if (!/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new OperatorFault('WALLET_KEY is not a private key; it must be 0x and 64 hex digits');
  return new Secret(text);
}
