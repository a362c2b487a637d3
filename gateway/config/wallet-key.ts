import { Secret } from '../../schema/secret.ts';
import { OperatorFault } from './fault.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The key of the wallet that a command signs with: WALLET_KEY. Never an argument, which every process of the machine can
 * read. Null where there is none. @throws OperatorFault where it is no key, which is not repeated
 */
export function givenWalletKey(environment: Environment = process.env): Secret | null {
  const text = environment.WALLET_KEY?.trim() ?? '';
  if (text === '') return null;
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new OperatorFault('WALLET_KEY is no private key: 0x and 64 hex digits');
  return new Secret(text);
}
