import { networks } from './network.ts';

/* Block explorers, to which pages link and which `explorer_url` of an export names. */

interface Explorer {
  readonly name: string;
  /** Prefix of the URL of a transaction; its id follows. */
  readonly tx_url: string;
  readonly tx: RegExp;
}

/** By the network that a payment reference begins with. */
export const explorers = {
  [networks.base.name]: { name: 'BaseScan', tx_url: 'https://basescan.org/tx/', tx: /^0x[0-9a-f]{64}$/i },
  [networks.solana.name]: { name: 'Solscan', tx_url: 'https://solscan.io/tx/', tx: /^[1-9A-HJ-NP-Za-km-z]{64,90}$/ },
} as const satisfies Record<string, Explorer>;

const known: Readonly<Record<string, Explorer>> = explorers;

/**
 * The explorer's page of a payment reference (`network:transaction`). Null for any other text or network, and in the development
 * profile, which runs on local chains.
 */
export function explorerPage(payment_ref: unknown, profile: unknown): { name: string; url: string } | null {
  if (typeof payment_ref !== 'string' || profile === 'development') return null;
  const [network = '', transaction = '', ...more] = payment_ref.split(':');
  const explorer = Object.hasOwn(known, network) ? known[network] : undefined;
  if (!explorer || more.length > 0 || !explorer.tx.test(transaction)) return null;
  return { name: explorer.name, url: explorer.tx_url + transaction };
}
