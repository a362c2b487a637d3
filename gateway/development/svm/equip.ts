import { addressOfKey, type SolanaConfig } from '../../config/solana.ts';
import { usdcAccountOf } from '../../rails/solana/programs.ts';
import { rpc } from '../chain/rpc.ts';

const LAMPORTS = '1000000000000';

/** Gives a treasury and a fee payer that are not the development's own what every payment needs of them. */
export async function equip({ rpc_url, pay_to, fee_payer_key }: SolanaConfig): Promise<void> {
  const { value: account } = await rpc<{ value: unknown }>(rpc_url, 'getAccountInfo', await usdcAccountOf(pay_to));
  if (account === null) await rpc(rpc_url, 'dev_fund', pay_to);
  if (fee_payer_key === null) return;
  const fee_payer = addressOfKey(fee_payer_key);
  const { value: lamports } = await rpc<{ value: number }>(rpc_url, 'getBalance', fee_payer);
  if (lamports === 0) await rpc(rpc_url, 'dev_fund', fee_payer, { lamports: LAMPORTS });
}
