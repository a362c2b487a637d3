import type { CompleteConfig } from '../../config/read-config.ts';
import type { SolanaConfig } from '../../config/solana.ts';
import { equip } from './equip.ts';
import { developmentFeePayer } from './wallets.ts';

type Given = Pick<CompleteConfig, 'solana_rpc_url' | 'pay_to_solana' | 'solana_fee_payer_key' | 'facilitator_url'>;

/** What payments on Solana need, on somebody's node or on our own; null without either. */
export async function openSolana(given: Given, rpc_url: string | null): Promise<SolanaConfig | null> {
  if (rpc_url === null) return null;
  const own_key = given.solana_fee_payer_key ?? developmentFeePayer.private_key;
  const fee_payer_key = given.facilitator_url ? null : own_key;
  const solana = { rpc_url, pay_to: given.pay_to_solana, fee_payer_key };
  if (!given.solana_rpc_url) await equip(solana);
  return solana;
}
