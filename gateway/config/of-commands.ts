import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { Secret } from '../../schema/secret.ts';
import { OperatorFault } from './fault.ts';

/* What a command is given beside its arguments: where its state lies, a session, the key of a wallet. */

/**
 * Where a command keeps what is its own and has to outlive it: below XDG_STATE_HOME, or where that is unset ~/.local/state (XDG
 * Base Directory Specification). Never in the checkout, from which it would be published, or deleted with it.
 */
export function stateFolder(name: string): string {
  const { XDG_STATE_HOME } = process.env;
  const home = XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local', 'state');
  return join(home, 'spend-receipt-gateway', name);
}

/**
 * The session that a command acts by: a file's first line, or SVC_SESSION. Never an argument, which every process of the
 * machine can read. @throws OperatorFault where there is none
 */
export async function givenSession(file: string | undefined): Promise<Secret> {
  const text = file === undefined ? process.env.SVC_SESSION : await readFile(file, 'utf8').catch(unreadable(file));
  const [session = ''] = (text ?? '').trim().split('\n');
  if (session === '') throw new OperatorFault('no session: give it in SVC_SESSION, or in a file by --session-file');
  return new Secret(session);
}

function unreadable(file: string) {
  return ({ code }: NodeJS.ErrnoException): never => {
    throw new OperatorFault(`${file}: the session cannot be read (${code})`);
  };
}

/**
 * The key of the wallet that a command signs with: WALLET_KEY. Never an argument, which every process of the machine can
 * read. Null where there is none. @throws OperatorFault where it is no key, which is not repeated
 */
export function givenWalletKey(): Secret | null {
  const text = process.env.WALLET_KEY?.trim() ?? '';
  if (text === '') return null;
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new OperatorFault('WALLET_KEY is no private key: 0x and 64 hex digits');
  return new Secret(text);
}
