import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where a command keeps what is its own and has to outlive it: below XDG_STATE_HOME, or where that is unset ~/.local/state (XDG
 * Base Directory Specification). Never in the checkout, from which it would be published, or deleted with it.
 */
export function stateFolder(name: string, { XDG_STATE_HOME }: Environment = process.env): string {
  const home = XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local', 'state');
  return join(home, 'spend-receipt-gateway', name);
}
