import type { Vault } from '../../../vault.ts';

/** Of the API key and the Idempotency-Key together: neither is kept. */
export const namedCallMark = ({ mark }: Pick<Vault, 'mark'>, api_key_hash: string, key: string): string =>
  mark(`${api_key_hash} ${key}`, 'idempotent_call');
