import { bytesInBase58 } from './base58.ts';
import { checksummedAddress } from './eip55.ts';
import { type NetworkName, networkNamed, networks } from './network.ts';
import type { ForeignNetwork } from './observed-transfer.ts';

/*
 * Names of wallets, transactions and tokens on the networks of payments to others, normalised to one spelling per chain. Only the
 * chain knows whether one exists.
 */

interface Names {
  readonly address: (text: string) => string | null;
  readonly transaction: (text: string) => string | null;
  readonly address_form: string;
  readonly transaction_form: string;
}

const names: Readonly<Record<ForeignNetwork, Names>> = {
  base: {
    address: text => (/^0x[0-9a-fA-F]{40}$/.test(text) ? checksummedAddress(text) : null),
    transaction: text => (/^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null),
    address_form: 'must be an address of Base: 0x and 40 hex digits',
    transaction_form: 'must be a transaction of Base: 0x and 64 hex digits',
  },
  solana: {
    address: text => (bytesInBase58(text) === 32 ? text : null),
    transaction: text => (bytesInBase58(text) === 64 ? text : null),
    address_form: 'must be an address of Solana: 32 bytes in base58',
    transaction_form: 'must be a transaction of Solana: a signature of 64 bytes in base58',
  },
  nano: {
    // The lookup on the chain checks the checksum. `xrb_` is the former prefix of accounts.
    address: text =>
      /^(nano|xrb)_[13][13456789abcdefghijkmnopqrstuwxyz]{59}$/.test(text) ? text.replace(/^xrb_/, 'nano_') : null,
    transaction: text => (/^[0-9a-fA-F]{64}$/.test(text) ? text.toUpperCase() : null),
    address_form: 'must be an account of Nano: nano_ and 60 letters and digits',
    transaction_form: 'must be a block of Nano: 64 hex digits',
  },
};

export type NameOutcome =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'none'; readonly form: string };

export function walletNamed(network: ForeignNetwork, text: string): NameOutcome {
  return named(names[network].address(text), names[network].address_form);
}

export function transactionNamed(network: ForeignNetwork, text: string): NameOutcome {
  return named(names[network].transaction(text), names[network].transaction_form);
}

function named(name: string | null, form: string): NameOutcome {
  return name === null ? { kind: 'none', form } : { kind: 'named', name };
}

/** Splits `base:0x…` or `eip155:8453:0x…` into network and transaction. Null if the text begins with no known network. */
export function splitRef(text: string): { readonly network: NetworkName; readonly transaction: string } | null {
  const at = text.lastIndexOf(':');
  const network = at < 0 ? null : networkNamed(text.slice(0, at));
  return network === null ? null : { network, transaction: text.slice(at + 1) };
}

/** Whether a token is USDC of that network, by its contract, mint or name. */
export function isUsdc(network: NetworkName, asset: string): boolean {
  const { usdc } = networks[network];
  if (asset.toUpperCase() === 'USDC') return true;
  return network === 'base' ? asset.toLowerCase() === usdc.toLowerCase() : asset === usdc;
}
