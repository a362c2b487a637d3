import { openBase } from '../../gateway/rails/base/open-base.ts';
import { openWalletProofs } from '../../gateway/rails/base/wallets.ts';
import type { ForeignParts } from '../../gateway/rails/foreign/open-foreign-transfers.ts';
import { atEnd } from './release.ts';

/** An address at which no process listens. */
const NOWHERE = 'http://127.0.0.1:1';

interface ForeignRequest {
  readonly base_rpc_url?: string;
  readonly solana_rpc_url?: string | null;
  readonly nano_rpc_url?: string | null;
  readonly nano_work_min?: bigint;
  readonly profile?: 'development' | 'production';
}

/** The parts that verify payments to other services. They can reach only the chains whose URLs are given. */
export function foreignPartsOf({
  base_rpc_url: rpc_url = NOWHERE,
  solana_rpc_url = null,
  nano_rpc_url = null,
  ...given
}: ForeignRequest): ForeignParts {
  const chain = openBase({ rpc_url });
  atEnd(() => chain.close());
  const { profile = 'development', nano_work_min } = given;
  const solana = solana_rpc_url === null ? null : { rpc_url: solana_rpc_url, pay_to: '', fee_payer_key: null };
  return { config: { profile, solana, nano_rpc_url }, chain, wallets: openWalletProofs(chain), nano_work_min };
}
